"""Automorphisms of games, and networks that keep one state of each orbit.

:mod:`~propnet.symmetries.form` has the circuit that they are looked for in, :mod:`~propnet.symmetries.search`
finds them, :mod:`~propnet.symmetries.group` verifies them and closes the group,
:mod:`~propnet.symmetries.canonical` puts the smallest state of its orbit in the place of every successor;
:mod:`~propnet.symmetries.saving` estimates whether that pays (begin with its ``paying_orbits``).
"""
