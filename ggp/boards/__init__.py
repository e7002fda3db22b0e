"""Boards: ``board`` finds one in the rules, whatever the symbols are called; ``text`` draws it.

``listed`` says what may be true, ``layers`` which arguments are coordinates; ``statics`` puts these in
order and derives what follows from the facts alone; ``shapes`` finds hexagons, rings, dots, and where
several boards stand; ``walls`` finds what nothing enters, sides that belong to roles, and what facts say
about squares; ``glyphs`` chooses signs; ``habits`` sees what things do, ``beside`` whose turn it is, and
numbers that are kept digit by digit. ``clicks`` finds the squares of moves, by the ``nearness`` of
arguments. ``snakes`` draws levels of Snakes, ``sight`` what a role knows of a board that it does not see
whole; :mod:`~ggp.boards.svg` draws for browsers.
"""
