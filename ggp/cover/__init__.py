"""Cover problems and packing puzzles from the command line: searched, kept for later, told and drawn.

Read ``solve`` first; :mod:`~ggp.cover.drawing` draws what is found.
"""
