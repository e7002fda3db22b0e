"""Whole games whose states have a rank that every move raises, in little memory and with several threads.

`rank` finds the rank, `space` the states in one word each, `forward` all of them by rank, `backward` their
values; `gang` gives work to threads, `codec` turns a state of any machine into its word.
"""
