"""Starts, forks and limits processes.

Read in this order: launch (starts a process), fork_server (the process that others are forked from),
lifeline (processes end with the one that has asked for them; lists of the processes below one), limits
(resource limits and priorities), lines (messages between processes, files that come with them),
worker_threads (threads of one process that share work).
"""
