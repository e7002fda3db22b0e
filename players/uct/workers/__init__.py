"""Search processes: each with a tree of its own, their statistics in shared memory.

Read the modules in this order: pool (starts and watches them), worker (one of them), channel (the statistics
in shared memory), relay (a process that has a cluster search).
"""
