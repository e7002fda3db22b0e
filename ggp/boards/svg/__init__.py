"""Boards as SVG: ``picture`` draws a state of any game, as text for a browser and as JSON for its script.

``layout`` places squares in the drawing. ``sprites`` and ``tiles`` draw things by their looks, ``facts`` what
stands on no square. ``whole`` is the protocol of pictures that draw a whole board.
``level_pictures`` draws whole levels behind them, ``seas`` water and ships; ``race``, ``pits``, ``rows`` and
``pegs`` draw boards of their own. ``overlay`` draws rings and arrows over them. ``markup``
writes elements, every name escaped, and has the stylesheet, light and dark. The output has no script, no
handler and no inline style.
"""
