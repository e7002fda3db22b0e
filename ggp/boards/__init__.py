"""Boards: ``board`` finds one in the rules, whatever the symbols are called; ``text`` draws it.

``listed`` lists the propositions that may be true. ``layers`` finds the arguments that are coordinates.
``statics`` puts coordinates in order and derives relations from facts alone. ``shapes`` finds hexagons,
rings, dots, and the places of several boards. ``board`` also finds walls, sides that belong to roles, and
facts about squares. ``glyphs`` chooses signs. ``habits`` records how things behave. ``beside`` finds whose
turn it is and joins the digits of counters. ``clicks`` finds the squares of moves, by the ``nearness`` of
arguments. ``snakes`` draws levels of Snakes. ``sight`` shows what a role knows of a board that it only sees
in part. :mod:`~ggp.boards.svg` draws for browsers.
"""
