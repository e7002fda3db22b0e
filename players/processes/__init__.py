"""Starting, forking and limiting processes.

To read in this order: launch (starts a process), fork_server (what it is forked from), limits and priority
(what a process may use), cores, warm_up_games (rules that have everything compiled).
"""
