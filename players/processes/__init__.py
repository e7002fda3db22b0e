"""Starting, forking and limiting processes.

To read in this order: launch (starts a process), fork_server (what it is forked from), limits and priority
(what a process may use), descendants (which processes there are below one, and which are left over),
lifeline (they end with the first), temporary (files that end with them), worker_threads (threads of one
process that share work).
"""
