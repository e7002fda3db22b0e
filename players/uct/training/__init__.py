"""What a search learns to value states by: self-play by searches, before a match and in its startclock.

To read in this order: searched_play (many matches side by side), play_processes, searched_training (weights
from such play, each state as a random image under the symmetries of the game), startclock (learning for one
match), duel (does a search play better with what was learnt?). Of the symmetries, game_symmetries finds and
tries them, renamings proposes turns of the board; :mod:`propnet.symmetries` proves those that its form of the
rules shows.
"""
