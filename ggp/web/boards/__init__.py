"""Drawings of states by address: ``GET /games/NAME/state.svg``.

``routes`` answers; ``artists`` keeps a process for each game that was drawn lately; ``drawing_process``
is one.
"""
