"""Starting, forking and limiting processes.

To read in this order: launch (starts a process), fork_server (what it is forked from), limits (what a process
may use, and who goes first), lifeline (they end with the first, and which processes there are below one),
temporary (files that end with them), worker_threads (threads of one
process that share work).
"""
