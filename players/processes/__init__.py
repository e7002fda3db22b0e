"""Starts, forks and limits processes.

Read in this order: launch (starts a process), fork_server (the process that others are forked from), limits
(resource limits and priorities), lifeline (processes end with the first one; lists of the processes below
one), temporary (files that end with their processes), worker_threads (threads of one process that share
work).
"""
