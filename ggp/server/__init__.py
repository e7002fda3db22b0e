"""The player's server: takes game managers' messages, and answers each turn with a legal move in time.

Read :mod:`~ggp.server.server` for the messages, :mod:`~ggp.server.match` and :mod:`~ggp.server.turn` for one
match and one turn, :mod:`~ggp.server.supervised_process` and :mod:`~ggp.server.fork_servers` for its
processes, :mod:`~ggp.server.admission` for their number, ``clients`` for the connections. The modules margin,
status and news are independent.
"""
