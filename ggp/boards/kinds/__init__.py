"""Kinds of boards that the rules show: ``heaps`` and rows, ``seas``, and the ``grounds`` of grids."""
