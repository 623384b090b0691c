"""Quantization: cells of given sizes, the points that stand for them, and the costs that prove it."""
