"""What boxes prove: detectors of positions that nobody can solve, for the kernels of searches."""
