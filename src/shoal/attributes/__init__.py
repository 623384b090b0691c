"""Kinds of attributes: how a column is read, its coordinates, the common value of a group, and what is written."""
