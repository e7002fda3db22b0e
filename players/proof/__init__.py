"""Proof-number search: what one role can force.

`search` drives it, `graph` says how the graph lies in memory and drops what is no longer needed, `kernels` go
down and up in it.
"""
