"""Learning of state values by a search: self-play by searches, before a match and in its startclock.

Read the modules in this order: searched_play (many matches side by side), play_processes, searched_training
(weights from this play, each state as a random image under the symmetries of the game), startclock (learning
for one match), duel (whether a search plays better with the learnt values). game_symmetries finds the
symmetries of a game, and tests turns of the board by play; :mod:`propnet.symmetries` proves those that its
form of the rules shows.
"""
