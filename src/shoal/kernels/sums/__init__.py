"""Sums without rounding, lanes of numbers, and axes."""
