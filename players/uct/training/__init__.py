"""Learning of state values by a search: self-play by searches, before a match and in its startclock.

Read the modules in this order: searched_play (many matches side by side), play_processes, searched_training
(weights from this play), startclock (learning for one match), duel (whether a search plays better with the
learnt values).
"""
