"""Planes: states as an array (channels, rows, columns) of zeros and ones, from the board found in the rules.

Pixels are drawn by Pillow, from the description of the state by :class:`ggp.boards.svg.picture.SvgPainter`.

Each thing that may stand on a square of a board has a channel. Each other base proposition, such as whose
turn it is or the number of steps, has a channel that is the same on all squares. Propositions of an empty
square have none. A game without a board has a single square.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gdl.machine import State
from ggp.adapters.missing import missing
from ggp.boards.board import find_board
from ggp.boards.svg.layout import UNIT
from propnet.machine import PropnetMachine

if TYPE_CHECKING:
    from ggp.boards.svg.picture import SvgPainter


class Planes:
    """The planes of a game's base propositions.

    Attributes:
        shape: channels, rows, columns. Row 0 is drawn on top.
        names: the meaning of each channel.
    """

    def __init__(self, machine: PropnetMachine) -> None:
        board = find_board(machine)
        bases = machine.network.bases
        rows = {} if board is None else {row: i for i, row in enumerate(reversed(board.rows))}
        columns = {} if board is None else {column: i for i, column in enumerate(board.columns)}
        height, width = max(1, len(rows)), max(1, len(columns))
        channels: dict[str, int] = {}
        taken: set[tuple[str, int]] = set()
        on: list[tuple[int, str, int]] = []
        off_board: list[int] = []
        for base, term in enumerate(bases):
            place = None if board is None else board.where(term)
            if board is None or place is None:
                off_board.append(base)
                continue
            (panel, column, row), thing = place
            if thing in board.blanks:
                continue
            if row not in rows or column not in columns:
                off_board.append(base)
                continue
            name = " ".join(map(machine.rules.spell, (*panel, *thing)))
            cell = rows[row] * width + columns[column]
            while (name, cell) in taken:  # two propositions say the same of a square
                name += "'"
            taken.add((name, cell))
            channels.setdefault(name, len(channels))
            on.append((base, name, cell))
        self.names = (*channels, *(machine.rules.spell(bases[base]) for base in off_board))
        self.shape = len(self.names), height, width
        self._on = np.array([base for base, _, _ in on], np.int64)
        self._cells = np.array([channels[name] * height * width + cell for _, name, cell in on], np.int64)
        self._off_board = np.array(off_board, np.int64)
        self._first = len(channels)

    def of_bits(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Planes, uint8 (n, channels, rows, columns), of states, 0 or 1, (n, bases)."""
        planes = np.zeros((len(bits), *self.shape), np.uint8)
        planes.reshape(len(bits), -1)[:, self._cells] = bits[:, self._on]
        planes[:, self._first :] = bits[:, self._off_board, None, None]
        return planes


_PAPER, _SQUARE, _EDGE, _INK = (250, 250, 246), (236, 226, 202), (120, 108, 84), (30, 30, 30)
_PIECES = ((40, 40, 40), (250, 250, 250), (190, 50, 40), (40, 90, 170), (60, 140, 70), (200, 150, 30))
_LINE = 14
_MOST_LINES = 12


def raster(painter: SvgPainter, state: State) -> NDArray[np.uint8]:
    """A state as uint8 (height, width, 3): the board, each thing a disc with its sign, and below it some
    lines with the propositions that are not on a board. Raises GdlError if Pillow is not installed."""
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
    """The text, with a question mark for each character that the built-in font cannot draw."""
    return text.encode("latin-1", "replace").decode("latin-1")
