"""The report: one HTML file that works offline, with inline SVG, for the owner of the table."""

from shoal.report.page import render

__all__ = ["render"]
