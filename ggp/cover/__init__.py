"""`ggp cover`: cover problems and packing puzzles searched, kept for later, told and drawn.

Read ``solve`` first.
"""
