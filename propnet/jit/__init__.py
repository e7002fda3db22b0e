"""numba and LLVM: the decorators of kernels, their cache on disk, vectors of 512 bits, random numbers."""
