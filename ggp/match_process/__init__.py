"""The processes of a match: one thinks, the standby holds a legal move, both follow the match.

Read :mod:`~ggp.match_process.thinking_process`, then :mod:`~ggp.match_process.match_follower` and
:mod:`~ggp.match_process.match_state` for the state of the match, and :mod:`~ggp.match_process.player_thread`
for the player. :mod:`~ggp.match_process.safe_move_process` is the standby.
"""
