"""Players for games of hidden information, which decide by a belief (:mod:`players.belief`).

Read ``pimc`` and ``expectimax`` first; then ``recollection`` (possible states with the observations of all
roles, and numbers for each action of an information set) with ``ismcts``, and ``game_tree`` with ``cfr``.
"""
