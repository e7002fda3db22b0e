"""Proof-number search: what one role can force.

`search` drives it with compiled loops that go down and up in the graph; `graph` defines the graph's layout in
memory and drops nodes that are no longer needed.
"""
