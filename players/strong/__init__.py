"""Whole games solved: every reachable state, the value of each under best play, a table of them on disk.

`solve` uses `ranked`, which needs little memory, if states have a rank. Otherwise `layers` finds the states
layer by layer, in `sets`, and then their values. `storage` writes tables, `tables` answers from them,
`player` plays from them; `outcomes` has each role's order of preference.
"""
