"""Automorphisms of games, and networks that keep one state of each orbit.

:mod:`~propnet.symmetries.form` has the circuit that they are looked for in, :mod:`~propnet.symmetries.search`
finds them, :mod:`~propnet.symmetries.group` verifies them and closes the group (begin there), and
:mod:`~propnet.symmetries.canonical` puts the smallest state of an orbit in place of every successor.
"""
