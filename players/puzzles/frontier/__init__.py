"""Breadth-first search of hundreds of millions of states: sorted and merged runs instead of hash tables.

Modules, in the same order as for all puzzles here:

- The problem: ``key_space`` and ``keys`` turn states into keys, ``runs`` store them.
- Files: ``storage`` saves searches, so that they can be resumed.
- Rules: ``solver`` takes every game with one role.
- Search: ``frontier`` leads. ``search`` makes one ``layer`` after the other within a ``budget``.
- Results: ``outcome``, and ``line``, which goes backwards through the layers.
"""
