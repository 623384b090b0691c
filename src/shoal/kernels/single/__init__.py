"""The loops of single methods and of their families."""
