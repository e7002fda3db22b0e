"""Compiled loops over 512 lanes.

Read plan (a network as arrays), kernel_args and scratch (the arguments of kernels), gates and step (their
work), then the kernels that Python calls: evaluate and playouts (with uniform_choice and weighted_choice,
both by move_counts). records and record_table handle packed states.
"""
