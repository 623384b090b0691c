"""Exchanges of records between groups."""
