"""What a role may hold for possible in games of hidden information, and players that decide by it.

Read ``worlds`` (states side by side on any machine; in lanes: ``lane_worlds`` with ``follow_kernel``),
``belief`` (those that fit what a role has seen), then the players: ``pimc``, ``expectimax``; ``recollection``
(possible states with what everybody has observed, numbers for each action of an information set) and
``ismcts``; ``game_tree`` and ``cfr``.
"""
