"""Detectors of unsolvable positions, for the kernels of searches."""
