"""Rows of records: lined up, shortened and cut."""
