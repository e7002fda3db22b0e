"""Whole games solved: every reachable state, the value of each under best play, a table of them on disk.

`forward` finds the states layer by layer, `backward` the values of games whose layers share no state,
`endless` those of all others; `whole` has `ranked` do it in less memory where states have a rank. `storage`
writes tables, `tables` answers from them, `player` plays from them.
"""
