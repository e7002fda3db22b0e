"""Beliefs about the state in games of hidden information, and players that decide by them.

Read ``worlds`` (many states at once on any machine; in lanes: ``lane_worlds`` with ``follow_kernel``),
``belief`` (the states that fit a role's percepts), then the players: ``pimc``, ``expectimax``;
``recollection`` (possible states with the observations of all roles, statistics for each action of an
information set) and ``ismcts``; ``game_tree`` and ``cfr``.
"""
