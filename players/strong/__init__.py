"""Whole games solved: every reachable state, the value of each under best play, a table of them on disk.

`layers` finds the states layer by layer, with the sorted sets of the frontier, one of each orbit, and then
their values. `storage` writes tables, `tables` answers from them, `player` plays from them; `outcomes` has
each role's order of preference.
"""
