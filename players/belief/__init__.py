"""What a role may hold for possible in games of hidden information, and players that decide by it.

Read ``worlds`` (states side by side on any machine), ``belief`` (those that fit what a role has seen), then
the players: ``pimc``; ``outlook`` and ``expectimax``; ``recollection`` (what everybody has observed) and
``set_table``, ``ismcts``; ``outcome_sampling`` and ``mccfr``; ``game_tree`` and ``cfr``.
"""
