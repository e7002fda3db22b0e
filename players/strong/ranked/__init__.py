"""Whole games whose states have a rank that every move raises, in little memory and with several threads.

`rank` finds the rank and turns a state of any machine into its word. `space` codes the states in one word
each. `solve` finds all of them by rank, and then their values, with worker threads.
"""
