"""Automorphisms of games, and networks that keep one state of each orbit.

:mod:`~propnet.symmetries.colours` tells the nodes of a graph apart as far as their neighbours do.
:mod:`~propnet.symmetries.group` builds the circuit in which automorphisms are searched, finds and verifies
them, and closes the group. :mod:`~propnet.symmetries.canonical` replaces every successor by the smallest
state of its orbit, if that pays.
"""
