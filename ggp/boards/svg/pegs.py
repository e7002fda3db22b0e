"""A code to be guessed, as in Mastermind: rows of coloured pegs with pins beside them, holes for the guess
being made, and colours to choose from. Hints name the guesses and the percepts that are pins."""

from __future__ import annotations

from collections.abc import Sequence

from gdl.rules import Rules
from gdl.terms import INPUT, LEGAL, Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, amount
from ggp.boards.looks import PieceLook, PieceShape, fact_hint, word_class
from ggp.boards.scene import Past, Scene
from ggp.boards.shapes import BoardShape
from ggp.boards.svg.layout import UNIT, BoardLayout, Spot
from ggp.boards.svg.markup import box, circle, element, title, words
from ggp.boards.svg.sprites import draw_piece, draw_square
from ggp.boards.svg.whole import WholePicture

_ROWS = 10
"""Rows of guesses, with the one being made; more if there are more guesses."""
_PITCH = 36.0
_PIN = 13.0
_NUMBER = 28.0
"""Width of the numbers at the left."""
_MOST_HOLES, _MOST_ABREAST = 12, 8


class PegsPicture(WholePicture):
    """The board of a code of ``holes`` pegs. ``across``: the columns of ``board`` are the colours."""

    quiet, squares = True, None

    def __init__(self, board: Grid, rules: Rules, holes: int, across: bool) -> None:
        self._rules, self._holes, self._across = rules, holes, across
        self._places, colours = (board.rows, board.columns) if across else (board.columns, board.rows)
        names = [rules.spell(colour) for colour in colours]
        told = len({name[:1] for name in names}) == len(names)
        self._pegs = {
            colour: PieceLook(name[:1].upper() * told, PieceShape.DISC, word_class(colour, n), name)
            for n, (colour, name) in enumerate(zip(colours, names, strict=True))
        }
        row = _NUMBER + holes * _PITCH + (2 + (holes + 1) // 2) * _PIN
        self._wide = max(row, min(len(colours), _MOST_ABREAST) * UNIT)
        self.layout = self._layout((), False)

    @classmethod
    def of_board(cls, board: Grid, rules: Rules) -> PegsPicture | None:
        """The picture, if hints call moves guesses and the board is one of colours and holes."""
        heads = [rule.head for rule in rules if rule.head.signature in ((LEGAL, 2), (INPUT, 2))]
        holes = {len(head.args[1].args) for head in heads if _hint(rules, head.args[1], "pegs") is not None}
        if len(holes) != 1 or board.shape is not BoardShape.STRAIGHT or board.panels != ((),):
            return None
        number, across = min(holes), holes == {len(board.rows)}
        fits = 0 < number <= _MOST_HOLES and (across or len(board.columns) == number)
        return cls(board, rules, number, across) if fits else None

    def placed(self, scene: Scene) -> BoardLayout:
        return self._layout(scene.by.past, scene.by.over)

    def _layout(self, past: Past, over: bool) -> BoardLayout:
        """The colours to choose from, below all rows; no other square of the board can be clicked."""
        top = self._y(max(_ROWS, len(self._guesses(past)) + (not over))) - _PITCH / 2 + 10
        each = int(self._wide // UNIT)
        spots: dict[Square, Spot] = {}
        for n, (colour, look) in enumerate(self._pegs.items()):
            square = ((), colour, self._places[0]) if self._across else ((), self._places[0], colour)
            key = f"0,{n},0" if self._across else f"0,0,{n}"
            spots[square] = Spot(key, look.meaning, (n % each + 0.5) * UNIT, top + (n // each + 0.5) * UNIT)
        return BoardLayout(self._wide, top + -(-len(spots) // each) * UNIT, spots)

    def draw(self, scene: Scene) -> list[str]:
        """The code as far as it is known, the guesses with their pins, the holes, and the colours."""
        guesses, over = self._guesses(scene.by.past), scene.by.over
        code = {(y if self._across else x): (x if self._across else y) for _, x, y in scene.on}
        last = max(_ROWS, len(guesses) + (not over)) - (not over)
        x, y = self._x(self._holes) + _PIN / 2, self._y(last)
        tray = self._wide - 2, 34, 8
        drawn = [box("gb-shield", self._wide / 2, 18, *tray)]
        drawn += [] if over else [box("gb-making", self._wide / 2, y, *tray)]
        drawn.append(self._row("code", [code.get(place) for place in self._places], None, _PITCH / 2))
        for row in range(last):
            n = row - last + len(guesses)
            colours, pins = guesses[n] if n >= 0 else ([None] * self._holes, [])
            drawn.append(self._row(f"{n + 1}" if n >= 0 else "", colours, pins, self._y(row)))
        drawn += [] if over else self._making(len(guesses) + 1, x, y)
        for look, spot in zip(self._pegs.values(), self.placed(scene).spots.values(), strict=True):
            drawn.append(draw_square(spot, [], False, False, draw_piece(look, spot.x, spot.y, 0.9)))
        return drawn

    def _making(self, number: int, x: float, y: float) -> list[str]:
        """The holes of the guess being made, and the tick that makes it."""
        drawn = [words("gb-axis", f"{number}", _NUMBER / 2, y)]
        for n in range(self._holes):
            hole = title(f"hole {n + 1}") + circle("gb-reach gb-hole", self._x(n), y, 14)
            drawn.append(element("g", hole, cls="gb-slot", data_slot=f"{n}"))
        tick = element("path", cls="gb-tick", d="M-7 1L-2 6L7-5", transform=f"translate({x:g} {y:g})")
        ready = title("make this guess") + circle("gb-tray", x, y, 15)
        return [*drawn, element("g", ready, tick, cls="gb-go", data_go="yes")]

    def _guesses(self, past: Past) -> list[tuple[list[Term | None], list[PieceLook]]]:
        """The colours and pins of each guess."""
        found: list[tuple[list[Term | None], list[PieceLook]]] = []
        for _, move, percepts in past:
            if move is None or len(move.args) != self._holes or _hint(self._rules, move, "pegs") is None:
                continue
            pins: list[PieceLook] = []
            for percept in sorted(percepts):
                if (colour := _hint(self._rules, percept, "pin")) is not None:
                    said = self._rules.spell(percept)[1:-1]
                    many = amount(percept.args[-1]) if percept.args else 1
                    pins += [PieceLook("", PieceShape.DISC, f"gb-{colour or 'black'}", said)] * many
            found.append((list(move.args), pins[: self._holes]))
        return found

    def _row(
        self, name: str, colours: Sequence[Term | None], pins: Sequence[PieceLook] | None, y: float
    ) -> str:
        """A row of pegs and pins, empty without a name; without pins it is the code."""
        names = ", ".join("?" if colour is None else self._rules.spell(colour) for colour in colours)
        said = "; ".join([f"{name}: {names}", *dict.fromkeys(pin.meaning for pin in pins or ())])
        drawn = [title(said)] if name else []
        for n, colour in enumerate(colours):
            x, look = self._x(n), None if colour is None else self._pegs.get(colour)
            hole = words("gb-sign", "?", x, y, font_size=18) if pins is None else circle("gb-hollow", x, y, 5)
            drawn.append(hole if look is None else draw_piece(look, x, y, 0.8))
        if pins is None:
            return element("g", *drawn)
        drawn.append(words("gb-axis", name, _NUMBER / 2, y))
        for n in range(self._holes):
            down, right = divmod(n, (self._holes + 1) // 2)
            x, low = self._x(self._holes) + right * _PIN, y + (down - 0.5) * _PIN
            drawn.append(
                draw_piece(pins[n], x, low, 0.3) if n < len(pins) else circle("gb-hollow", x, low, 2.5)
            )
        return element("g", *drawn)

    def _x(self, hole: int) -> float:
        return _NUMBER + (hole + 0.5) * _PITCH

    def _y(self, row: int) -> float:
        return (row + 1.5) * _PITCH + 8


def _hint(rules: Rules, said: Term, look: str) -> str | None:
    """The colour that a hint of this look has for a move or a percept, maybe empty; None without a hint."""
    hint = fact_hint(said, rules)
    return hint.colour if hint is not None and hint.look == look else None
