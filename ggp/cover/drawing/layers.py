"""A solution as layers of letters for the terminal."""

from __future__ import annotations

from rich.columns import Columns
from rich.console import RenderableType
from rich.panel import Panel
from rich.text import Text

from ggp.cover.drawing.packed import Packed, colour


def layers(packed: Packed) -> RenderableType:
    """Each layer (z) as a panel, rows (y) from top to bottom: one letter for each piece on its colour, a dot
    where nothing is. Letters alone tell the pieces apart."""
    owners = packed.owners()
    letters = packed.letters()
    xs, ys, zs = (sorted({cell[axis] for cell in owners}) for axis in range(3))
    panels = []
    for z in range(zs[0], zs[-1] + 1):
        text = Text(no_wrap=True)
        for y in range(ys[0], ys[-1] + 1):
            for x in range(xs[0], xs[-1] + 1):
                owner = owners.get((x, y, z))
                if owner is None:
                    text.append("· ", "dim")
                else:
                    red, green, blue = colour(packed.pieces[owner].kind)
                    text.append(f"{letters[owner]} ", f"black on rgb({red},{green},{blue})")
            if y < ys[-1]:
                text.append("\n")
        panels.append(Panel.fit(text, title=f"z = {z}" if len(zs) > 1 else None, border_style="dim"))
    return Columns(panels)
