"""Boards: ``board`` finds one in the rules, whatever the symbols are called; ``text`` draws it.

``layers`` tells which arguments are coordinates, ``coordinates`` puts them in order; ``shapes`` finds
hexagons, ``rings`` rings, ``panels`` where several boards stand, from what ``statics`` derives of the facts
alone; ``dots`` finds dots and lines, ``walls`` what nothing enters; ``glyphs`` chooses signs. ``clicks``
finds the squares of moves, by the ``nearness`` of arguments. :mod:`~ggp.boards.svg` draws for browsers.
"""
