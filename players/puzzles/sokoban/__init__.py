"""Sokoban, played like a specialist: from a level file, or from GDL rules that turn out to be Sokoban.

Here are the geometry of a level, the board that kernels work on, what the walls prove (distances, tunnels,
rooms), solutions as lines, and the optimizer, which looks for the shortest line in the vicinity of a known
one.
"""
