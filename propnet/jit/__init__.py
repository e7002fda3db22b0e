"""numba and LLVM, and nothing of networks.

Read arrays (types), vector512 (vectors of 512 bits) and decorators (`kernel`, `inner`, and the cache of
compiled kernels that processes share), then kernel_places (the folders of compiled kernels), parts (which
kernels are compiled, and how processes share the work), random_numbers, and intrinsics (features that numba
lacks).
"""
