"""Draws the facts off the board as panels of text, grouped by relation, counters on one line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from gdl.rules import Rules
from gdl.syntax.writer import OwnNotation
from gdl.terms import Term, sort_key
from ggp.boards.svg.markup import box, clipped, element, words

_LINE = 18.0
"""Height of a line of text."""
_LETTER = 7.2
_WIDEST = 34
_PADDING = 8.0
_GAP = 12.0
_HEIGHTS = (2, 3, 4, 6, 9, 13, 20, 1000)
"""Lines in a column below a board, tried in this order."""
_FactLine = tuple[str, bool]
"""A line of text, and whether it is new."""
DrawnFacts = tuple[str, float, float]
"""Markup of panels, and the width and height of all of them."""


@dataclass(frozen=True, slots=True)
class FactBlock:
    """The true propositions of one relation.

    Attributes:
        name: the relation's name.
        rows: the arguments of each proposition, spelled; a relation without arguments has one row without
            any.
        fresh: for each row, whether it was false before.
    """

    name: str
    rows: tuple[tuple[str, ...], ...] = ((),)
    fresh: tuple[bool, ...] = (False,)

    @property
    def single(self) -> bool:
        """Whether it is one line, such as a counter or whose turn it is."""
        return len(self.rows) == 1

    def lines(self, most: int) -> list[_FactLine]:
        """At most ``most`` lines for the panel; a single row includes the relation's name. If lines are left
        out, the last line counts them."""
        rows = [(self.name, *self.rows[0])] if self.single else self.rows[:most]
        lines = [(clipped(" ".join(row), _WIDEST), new) for row, new in zip(rows, self.fresh, strict=False)]
        if len(self.rows) > most:
            lines[-1] = f"… {len(self.rows) - most + 1} more", False
        return lines


def fact_blocks(rules: Rules, facts: Iterable[Term], before: Iterable[Term] | None = None) -> list[FactBlock]:
    """Facts grouped by relation, single lines first."""
    groups: dict[tuple[str, int], list[Term]] = defaultdict(list)
    for term in sorted(facts, key=sort_key):
        groups[term.signature].append(term)
    earlier = None if before is None else set(before)
    own = OwnNotation(rules)
    blocks = [
        FactBlock(
            own.name(name),
            tuple(tuple(map(own.term, term.args)) for term in terms),
            tuple(earlier is not None and term not in earlier for term in terms),
        )
        for (name, _), terms in groups.items()
    ]
    return sorted(blocks, key=lambda block: (not block.single, block.name))


def draw_facts(blocks: list[FactBlock], x: float, y: float, height: float, most: int) -> DrawnFacts:
    """Panels that start at a point, in columns of about this height.

    Args:
        most: lines of one relation that are shown.
    """
    drawn: list[str] = []
    left, top, widest, lowest = x, y, 0.0, y
    singles = [line for block in blocks if block.single for line in block.lines(1)]
    panels: list[tuple[str, list[_FactLine]]] = [("", singles)] if singles else []
    panels += [(block.name, block.lines(most)) for block in blocks if not block.single]
    for name, lines in panels:
        tall = (bool(name) + len(lines)) * _LINE + 2 * _PADDING
        if top > y and top + tall > y + height:
            left, top, widest = left + widest + _GAP, y, 0.0
        letters = max(8, len(clipped(name, _WIDEST)), *(len(line) for line, _ in lines))
        wide = _LETTER * letters + 2 * _PADDING
        drawn.append(_panel(name, lines, left, top, wide, tall))
        top += tall + _GAP
        widest, lowest = max(widest, wide), max(lowest, top - _GAP)
    return "".join(drawn), left + widest - x, lowest - y


def draw_facts_below(blocks: list[FactBlock], x: float, y: float, width: float, most: int) -> DrawnFacts:
    """Panels in as many columns as fit this width, as low as possible."""
    for lines in _HEIGHTS:
        drawn = draw_facts(blocks, x, y, lines * _LINE, most)
        if drawn[1] <= width:
            break
    return drawn


def _panel(name: str, lines: list[_FactLine], x: float, y: float, width: float, height: float) -> str:
    left, middle, at = x + _PADDING, x + width / 2, y + _PADDING + _LINE / 2
    inside = [box("gb-panel", middle, y + height / 2, width, height, 6)]
    if name:
        inside.append(words("gb-head", clipped(name, _WIDEST), left, at))
        at += _LINE
    for text, new in lines:
        inside.append(box("gb-fresh", middle, at, width - 4, _LINE, 3) if new else "")
        inside.append(words("gb-fact", text, left, at))
        at += _LINE
    return element("g", *inside)
