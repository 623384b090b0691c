"""The search tree: records in order, the nearest and the farthest of them."""
