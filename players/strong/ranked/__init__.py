"""Whole games whose states have a rank that every move raises, in little memory and with several threads.

`rank` finds the rank and turns a state of any machine into its word, `space` has the states in one word each,
`forward` finds all of them by rank, `backward` their values; `solve` leads, with worker threads.
"""
