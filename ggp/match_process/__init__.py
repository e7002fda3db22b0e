"""The processes beside the server: one thinks, the standby holds a legal move, both follow the match.

Read :mod:`~ggp.match_process.thinking_process`, then :mod:`~ggp.match_process.match_follower` and
:mod:`~ggp.match_process.match_state` for where the match stands, and :mod:`~ggp.match_process.player_thread`
for who thinks. :mod:`~ggp.match_process.safe_move_process` is the standby.
"""
