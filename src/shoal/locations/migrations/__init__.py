"""The steps by which databases of older versions come up to date, for Alembic."""
