"""Compiled kernels: arrays in, arrays out; no classes, no I/O, no knowledge of estimators."""
