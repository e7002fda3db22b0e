"""Boards: ``board`` finds one in the rules, whatever the symbols are called.

``layers`` finds the arguments that are coordinates. ``statics`` derives what never changes, and puts
coordinates in order. ``shapes`` finds hexagons, rings, dots, and the places of several boards. ``board`` also
finds walls, sides that belong to roles, and facts about squares. ``piece_behaviour`` records how things
behave. ``scene`` says what a state shows: things on squares, changes, whose turn it is, counters. ``text``
draws it by the signs of ``glyphs``, :mod:`~ggp.boards.svg` for browsers. :mod:`~ggp.boards.kinds` finds
heaps, seas and grounds, ``race`` the points of races. ``clicks`` finds the squares of moves, and
:mod:`~ggp.boards.spoken` says moves and ends in words. ``snakes`` draws levels of Snakes. ``role_view`` shows
what a role knows of a board that it only sees in part.
"""
