"""Boards as SVG: ``picture`` draws a state of any game, as text for a browser and as JSON for its script.

``layout`` places squares in the drawing. ``looks`` chooses the look of a thing. ``sprites`` and ``tiles``
draw it. ``scenes`` draws whole levels behind it. ``overlay`` draws rings and arrows over it, or towers in its
place. ``facts`` lists the facts off the board. ``markup`` writes elements, every name escaped, and has the
stylesheet, light and dark. The output has no script, no handler and no inline style.
"""
