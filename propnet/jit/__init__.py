"""numba and LLVM, and nothing of networks.

Read arrays (types), vector512 (vectors of 512 bits) and decorators (`kernel`, `inner`), then kernel_places
(where compiled kernels lie) and kernel_cache (how processes share them), random_numbers, and intrinsics
(what numba does not know).
"""
