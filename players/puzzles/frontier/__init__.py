"""Breadth-first search of hundreds of millions of states: sorted and merged runs instead of hash tables.

In the order of all puzzles here:

- What it is: ``key_space`` and ``keys`` say how a state is a key, ``runs`` how keys are kept. - How it is
read: ``storage``, for searches that go on. - How it is found in rules: ``solver`` takes every game of one
role. - Search: ``frontier`` leads. ``search`` makes one ``layer`` after the other within a ``budget``.
- What is told: ``outcome``, and ``line``, which is found backwards through the layers.
"""
