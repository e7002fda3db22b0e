"""Whole games solved: every reachable state, the value of each under best play, a table of them on disk.

`solve` has `ranked` do it in little memory where states have a rank; else `layers` finds the states layer by
layer, in `sets`, and then their values. `storage` writes tables, `tables` answers from them, `player`
plays from them; `outcomes` says what roles like better.
"""
