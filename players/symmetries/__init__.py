"""Symmetries of games, for learning.

:mod:`~players.symmetries.game_symmetries` finds them (begin with its ``find_symmetries``) and makes images of
states: :mod:`propnet.symmetries` proves those that its form of the rules shows, and
:mod:`~players.symmetries.renamings` proposes others, which are looked at in play.
"""
