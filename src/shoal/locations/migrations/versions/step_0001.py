"""The first tables."""

from alembic import op

from shoal.locations.schema import GUARDS, metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make every table, and the triggers that refuse to change what was published."""
    connection = op.get_bind()
    metadata.create_all(connection)
    for statement in GUARDS[connection.dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    """There is nothing before it."""
    raise NotImplementedError("there is no older form of the tables")
