"""Proof-number search: what one role can force.

`search` drives it, `arrays` says how the graph lies in memory, `kernels` go down and up in it, and `compact`
drops what is no longer needed.
"""
