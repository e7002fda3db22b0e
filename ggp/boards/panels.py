"""Where each board of a game on several boards stands: by two coordinates, or by facts about the whole."""

from __future__ import annotations

from gdl.terms import Term
from ggp.boards.coordinates import CoordinateOrder
from ggp.boards.layers import Square
from ggp.boards.statics import Statics

Panel = tuple[Term, ...]


def places_of_panels(
    panels: tuple[Panel, ...], squares: set[Square], order: CoordinateOrder, statics: Statics
) -> dict[Panel, tuple[int, int]]:
    """Column from the left and row from the bottom of each panel; empty where nothing says more than a line.

    Panels with two coordinates stand by these. Those with one stand where a relation puts them that gives
    each square of each panel a column and a row of the whole, as in Pentago.
    """
    if len(panels) < 2:
        return {}
    if len(panels[0]) == 2:
        return _places({panel: (panel[0], panel[1]) for panel in panels}, order)
    if len(panels[0]) != 1:
        return {}
    for signature in statics.signatures((5,)):
        rows = statics.rows(signature, len(squares))
        whole = {((row[0],), row[1], row[2]): (row[3], row[4]) for row in rows}
        if whole.keys() == squares and len(set(whole.values())) == len(squares):
            corners = {
                panel: tuple(
                    order.sort({at[side] for square, at in whole.items() if square[0] == panel})[0]
                    for side in (0, 1)
                )
                for panel in panels
            }
            places = _places({panel: (corner[0], corner[1]) for panel, corner in corners.items()}, order)
            if len(set(places.values())) == len(panels):
                return places
    return {}


def _places(at: dict[Panel, tuple[Term, Term]], order: CoordinateOrder) -> dict[Panel, tuple[int, int]]:
    columns = order.sort({x for x, _ in at.values()})
    rows = order.sort({y for _, y in at.values()})
    return {panel: (columns.index(x), rows.index(y)) for panel, (x, y) in at.items()}
