"""Lists the facts off the board as panels: facts grouped by relation, counters on one line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from gdl.rules import Rules
from gdl.syntax.writer import OwnNotation
from gdl.terms import Term
from ggp.boards.looks import PieceLook, fact_look
from ggp.boards.svg.layout import UNIT
from ggp.boards.svg.markup import clipped, element, text_of
from ggp.boards.svg.sprites import draw_piece

LINE = 18.0
"""Height of a line of text."""
_LETTER = 7.2
_TALL = 34.0
"""Height of a line with a card or a die."""
_WIDEST = 34
_PADDING = 8.0
_GAP = 12.0
_HEIGHTS = (2, 3, 4, 6, 9, 13, 20, 1000)
"""Lines in a column below a board, tried in this order."""


_FactLine = tuple[str, bool, PieceLook | None]
"""A line of text, whether it is new, and the card or die at its end."""


@dataclass(frozen=True, slots=True)
class FactBlock:
    """The true propositions of one relation.

    Attributes:
        name: the relation's name.
        rows: the arguments of each proposition, spelled; a relation without arguments has one row without
            any.
        fresh: for each row, whether it was false before.
        looks: for each row the card or die drawn for it, or None; empty if no row has one.
    """

    name: str
    rows: tuple[tuple[str, ...], ...]
    fresh: tuple[bool, ...]
    looks: tuple[PieceLook | None, ...] = ()

    @property
    def single(self) -> bool:
        """Whether it is one line, such as a counter or whose turn it is."""
        return len(self.rows) == 1

    def lines(self, most: int) -> list[_FactLine]:
        """At most ``most`` lines for the panel; a single row includes the relation's name. If lines are left
        out, the last line counts them."""
        looks = self.looks or (None,) * len(self.rows)
        if self.single:
            words = (self.name, *self.rows[0])
            return [(clipped(" ".join(words), _WIDEST), self.fresh[0], looks[0])]
        lines: list[_FactLine] = [
            (clipped(" ".join(row), _WIDEST), new, look)
            for row, new, look in zip(self.rows[:most], self.fresh, looks, strict=False)
        ]
        if len(self.rows) > most:
            lines[-1] = f"… {len(self.rows) - most + 1} more", False, None
        return lines


def fact_blocks(rules: Rules, facts: Iterable[Term], before: Iterable[Term] | None = None) -> list[FactBlock]:
    """Facts grouped by relation, single lines first."""
    groups: dict[tuple[str, int], list[Term]] = defaultdict(list)
    for term in sorted(facts):
        groups[term.signature].append(term)
    earlier = None if before is None else set(before)
    own = OwnNotation(rules)
    blocks = [
        FactBlock(
            own.name(name),
            tuple(tuple(map(own.term, term.args)) for term in terms),
            tuple(earlier is not None and term not in earlier for term in terms),
            looks=tuple(fact_look(term, rules) for term in terms),
        )
        for (name, _), terms in groups.items()
    ]
    return sorted(blocks, key=lambda block: (not block.single, block.name))


def draw_facts(
    blocks: list[FactBlock], x: float, y: float, height: float, most: int
) -> tuple[str, float, float]:
    """Panels that start at a point, in columns of about this height. Returns markup, width and height of all
    panels.

    Args:
        most: lines of one relation that are shown.
    """
    drawn: list[str] = []
    left, top, widest, lowest = x, y, 0.0, y
    singles = [line for block in blocks if block.single for line in block.lines(1)]
    panels: list[tuple[str, list[_FactLine]]] = [("", singles)] if singles else []
    panels += [(block.name, block.lines(most)) for block in blocks if not block.single]
    for name, lines in panels:
        tall = bool(name) * LINE + sum(map(_height, lines)) + 2 * _PADDING
        if top > y and top + tall > y + height:
            left, top, widest = left + widest + _GAP, y, 0.0
        letters = max(8, len(clipped(name, _WIDEST)), *(len(line) for line, _, _ in lines))
        wide = _LETTER * letters + 2 * _PADDING + max(_height(line) - LINE for line in lines) * 2
        drawn.append(_panel(name, lines, left, top, wide, tall))
        top += tall + _GAP
        widest, lowest = max(widest, wide), max(lowest, top - _GAP)
    return "".join(drawn), left + widest - x, lowest - y


def draw_facts_below(
    blocks: list[FactBlock], x: float, y: float, width: float, most: int
) -> tuple[str, float, float]:
    """Panels in as many columns as fit this width, as low as possible. Returns the same as
    :func:`draw_facts`."""
    for lines in _HEIGHTS:
        drawn = draw_facts(blocks, x, y, lines * LINE, most)
        if drawn[1] <= width:
            break
    return drawn


def _height(line: _FactLine) -> float:
    return LINE if line[2] is None else _TALL


def _panel(name: str, lines: list[_FactLine], x: float, y: float, width: float, height: float) -> str:
    inside = [element("rect", cls="gb-panel", x=x, y=y, width=width, height=height, rx=6)]
    at = y + _PADDING + LINE / 2
    if name:
        title = text_of(clipped(name, _WIDEST))
        inside.append(element("text", title, cls="gb-head", x=x + _PADDING, y=at))
        at += LINE
    at -= LINE / 2
    for line in lines:
        text, new, look = line
        high = _height(line)
        if new:
            inside.append(element("rect", cls="gb-fresh", x=x + 2, y=at, width=width - 4, height=high, rx=3))
        inside.append(element("text", text_of(text), cls="gb-fact", x=x + _PADDING, y=at + high / 2))
        if look is not None:
            inside.append(draw_piece(look, x + width - high / 2 - 4, at + high / 2, high / UNIT))
        at += high
    return element("g", *inside)
