"""States as pixels, by Pillow: the squares and things of :class:`ggp.boards.svg.picture.SvgPainter`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gdl.machine import State
from ggp.adapters.missing import missing
from ggp.boards.svg.layout import UNIT

if TYPE_CHECKING:
    from ggp.boards.svg.picture import SvgPainter

_PAPER, _SQUARE, _EDGE, _INK = (250, 250, 246), (236, 226, 202), (120, 108, 84), (30, 30, 30)
_PIECES = ((40, 40, 40), (250, 250, 250), (190, 50, 40), (40, 90, 170), (60, 140, 70), (200, 150, 30))
_LINE = 14
_MOST_LINES = 12


def raster(painter: SvgPainter, state: State) -> NDArray[np.uint8]:
    """A state as uint8 (height, width, 3): the board, each thing a disc with its sign, and below it some
    lines of what stands on no board. Raises GdlError where Pillow is not there."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise missing("pillow", "pixels") from None
    drawn = painter.describe(state.propositions)
    lines = [
        f"{block['name']} {' '.join(map(str, row))}" for block in drawn["beside"] for row in block["rows"]
    ]
    lines = lines[: _MOST_LINES if drawn["squares"] else 4 * _MOST_LINES]
    width = max(int(drawn.get("width") or 0), 200)
    top = int(drawn.get("height") or 8)
    image = Image.new("RGB", (width, top + _LINE * len(lines) + 8), _PAPER)
    draw: Any = ImageDraw.Draw(image)
    looks = {look["meaning"]: (look["sign"], look["colour"]) for look in painter.legend()}
    colours = sorted({colour for _, colour in looks.values()})
    half = UNIT / 2
    for square in drawn["squares"]:
        x, y = square["x"], square["y"]
        draw.rectangle((x - half, y - half, x + half, y + half), fill=_SQUARE, outline=_EDGE)
        for number, thing in enumerate(square["things"]):
            sign, colour = looks.get(thing, (thing[:1], ""))
            fill = _PIECES[(colours.index(colour) if colour in colours else 0) % len(_PIECES)]
            size = half * (0.8 - 0.2 * min(number, 2))
            draw.ellipse((x - size, y - size, x + size, y + size), fill=fill, outline=_EDGE)
            ink = _INK if sum(fill) > 380 else (255, 255, 255)
            draw.text((x, y), _plain(sign), fill=ink, anchor="mm")
    for number, line in enumerate(lines):
        draw.text((8, top + _LINE * number), _plain(line), fill=_INK)
    return np.asarray(image, np.uint8)


def _plain(text: str) -> str:
    """What the built-in font can draw."""
    return text.encode("latin-1", "replace").decode("latin-1")
