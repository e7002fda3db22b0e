"""Compiled loops over 512 lanes.

Read plan (a network as arrays), kernel_args and scratch (the arguments of kernels), gates and step (their
work), then the kernels that Python calls: evaluate and playouts (with uniform_choice, weighted_choice by
move_weights, both by move_counts). records and record_table handle packed states.
"""
