"""Processes that exchange lines of JSON over a socket: the server's for matches, the tournament's for
players.

Read :mod:`~ggp.processes.child` for the end of the process that starts one, then :mod:`~ggp.processes.parent`
for the end of the process that is started.
"""
