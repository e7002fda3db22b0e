"""Symmetries of games, for learning.

:mod:`~players.symmetries.game_symmetries` finds them (begin with its ``find_symmetries``):
:mod:`propnet.symmetries` proves those that its form of the rules shows, and
:mod:`~players.symmetries.renamings` proposes others, which it looks at in
play. :mod:`~players.symmetries.image_kernels` makes images of states.
"""
