"""Search processes: each with a tree of its own, their statistics shared by memory.

To read in this order: pool (starts and watches them), worker (one of them), channel (what goes between),
relay (one that has a cluster search).
"""
