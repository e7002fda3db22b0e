"""Sokoban with specialised search: from a level file, or from GDL rules that turn out to be Sokoban.

Modules, in the same order as for all puzzles here:

- The problem: ``geometry`` and ``board``, and the facts that walls imply (``distances``, ``rooms``).
- Files: ``levels`` reads level files, and writes levels as rules.
- Rules: ``recognition`` finds a level in the rules of a game; ``solver`` uses it.
- Search: ``push_search`` is what all have in common; ``search``, with ``fess`` among them; ``deadlocks`` and
  ``deadsets`` prune.
- Results: ``lines``, which ``optimizer`` shortens.
"""
