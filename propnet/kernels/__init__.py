"""Compiled loops over 512 lanes.

Read plan (a network as arrays), kernel_args and scratch (what kernels are given), gates and step (what they
do), then those that Python calls: evaluate, playouts (with uniform_choice, weighted_choice by move_weights,
both by move_counts, and tally) and expand_kernel. records and record_table are about packed states.
"""
