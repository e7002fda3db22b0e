"""Boards as SVG: ``picture`` draws a state of any game, as text for a browser and as JSON for its script.

``layout`` says where squares stand on paper, ``looks`` what a thing looks like; ``sprites`` and ``tiles``
draw it, ``scenes`` whole levels behind it, ``overlay`` rings and arrows over it, or towers in its place.
``facts`` lists what stands on no square; ``markup`` writes elements, every name escaped, and has the
stylesheet, light and dark. No script, no handler and no inline style comes out.
"""
