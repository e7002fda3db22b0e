"""Learning of state values by self-play of searches.

Read the modules in this order: searched_play (many matches side by side), play_processes (weights from this
play), duel (whether a search plays better with the learnt values).
"""
