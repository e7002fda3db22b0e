"""Automorphisms of games, and networks that keep one state of each orbit.

:mod:`~propnet.symmetries.group` makes the circuit that they are looked for in and finds them,
:mod:`~propnet.symmetries.group` verifies them and closes the group, :mod:`~propnet.symmetries.canonical` puts
the smallest state of its orbit in the place of every successor where that pays.
"""
