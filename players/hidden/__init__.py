"""Players for games of hidden information, which decide by a belief (:mod:`players.belief`).

Read ``pimc`` and ``expectimax`` first; then ``ismcts`` (possible states with the observations of all roles,
statistics for each action of an information set) and ``cfr`` (the whole tree of a small game).
"""
