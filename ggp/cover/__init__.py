"""`ggp cover`: searches cover problems and packing puzzles, saves the search, prints and draws solutions.

Read ``solve`` first.
"""
