"""The protocol of pictures that draw a whole board of their own: races, pits, rows, codes of pegs."""

from __future__ import annotations

from collections.abc import Collection

from gdl.terms import Term
from ggp.boards.layers import Square
from ggp.boards.scene import Scene
from ggp.boards.svg.layout import BoardLayout


class WholePicture:
    """A picture of a whole board.

    Attributes:
        layout: the place of everything that can be clicked.
        quiet: whether likelihoods are shown on request only, and rings never.
    """

    layout: BoardLayout
    quiet = False

    @property
    def squares(self) -> Collection[Square] | None:
        """The squares that are drawn; None for all that the board may have."""
        return self.layout.spots.keys()

    def placed(self, scene: Scene) -> BoardLayout:
        """The layout in a state."""
        return self.layout

    def shows(self, proposition: Term) -> bool:
        """Whether the picture shows a proposition off the board."""
        return False

    def contents(self, scene: Scene) -> dict[str, list[str]] | None:
        """What is on each place, by its key; None if it is what stands on squares."""
        return None

    def draw(self, scene: Scene) -> list[str]:
        """The markup of a state."""
        raise NotImplementedError
