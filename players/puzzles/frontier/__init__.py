"""Breadth-first search of hundreds of millions of states: sorted and merged runs instead of hash tables.

``key_space`` turns states into keys (:mod:`players.sorted_sets`). ``frontier`` leads, and rebuilds lines;
``search`` makes one layer after the other within a ``budget``; ``outcome`` has options and results.
``solver`` takes every game with one role.
"""
