"""The report: one HTML file that works offline, for the owner of the table; and the cards that notebooks show."""
