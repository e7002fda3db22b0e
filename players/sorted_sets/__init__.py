"""Sorted sets of states, larger than the memory: what exhaustive searches are made of.

`keys` holds keys of any width in arrays, with the kernels of `rows`; `codes` writes them as bytes, `runs` in
blocks, and `store` keeps blocks in memory and in scratch files (`files`).
"""
