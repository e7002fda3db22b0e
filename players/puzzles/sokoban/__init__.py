"""Sokoban, played like a specialist: from a level file, or from GDL rules that turn out to be Sokoban.

In the order of all puzzles here:

- What it is: ``geometry`` and ``board``, and what walls prove (``distances``, ``rooms``).
- How it is read: ``levels``, which also writes levels as rules.
- How it is found in rules: ``recognition``, used by ``solver``.
- Search: ``search``, with ``fess`` among its searches; ``deadlocks`` and ``deadsets`` prune.
- What is told: ``lines``, made shorter by ``optimizer``.
"""
