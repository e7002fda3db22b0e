"""Boards of rings around each other, such as that of merrills: their places in order, and their drawing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gdl.terms import Term
from ggp.boards.statics import Statics

Span = tuple[str, str]
"""Text and a rich style."""

_COMPASS = ("n", "ne", "e", "se", "s", "sw", "w", "nw")
"""Places of a ring, clockwise."""


def ring_of(domain: Iterable[Term], statics: Statics) -> tuple[Term, ...]:
    """Eight places as they go round, clockwise from the middle of the top side: by the names of the compass,
    else by facts about which follows which. Empty if they do not go round."""
    places = sorted(set(domain))
    if len(places) != len(_COMPASS):
        return ()
    if {place.name for place in places} == set(_COMPASS):
        return tuple(map(Term, _COMPASS))
    for signature in statics.signatures((2,)):
        pairs = statics.rows(signature, len(places))
        after = {row[0]: row[1] for row in pairs}
        if len(pairs) != len(places) or set(after) != set(places):
            continue
        ring = [places[0]]
        while after[ring[-1]] in after and after[ring[-1]] not in ring:
            ring.append(after[ring[-1]])
        if len(ring) == len(places):
            return tuple(ring[1:] + ring[:1]) if _corners(ring, statics) else tuple(ring)
    return ()


def _corners(ring: list[Term], statics: Statics) -> bool:
    """Whether the first place of a ring is a corner: one of four with a property of theirs."""
    halves = {frozenset(ring[0::2]): True, frozenset(ring[1::2]): False}
    for signature in statics.signatures((1,)):
        some = frozenset(row[0] for row in statics.rows(signature, len(ring)))
        if some in halves:
            return halves[some]
    return False


_WAYS = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))


def draw_rings(
    signs: Mapping[tuple[int, int], Sequence[Span]],
    marked: set[tuple[int, int]],
    names: Sequence[str],
    wide: int,
) -> list[list[Span]]:
    """Rings as lines of text.

    Args:
        signs: what stands on each place, by ring from the inside and place clockwise from the top.
        marked: the places to stand in brackets.
        names: of the rings, from the inside, and then of the eight places.
        wide: width of the widest sign.
    """
    rings = 1 + max(ring for ring, _ in signs)
    size, pitch = 2 * rings + 1, max(2 * wide, 4)
    margin = max(map(len, names)) + 2
    where = {
        (rings + (ring + 1) * x, rings + (ring + 1) * y): (ring, place)
        for ring in range(rings)
        for place, (x, y) in enumerate(_WAYS)
    }
    spoken = [names[rings + place] for place in range(len(_WAYS))]
    lines = [_header(margin, pitch, rings, (spoken[7], spoken[0], spoken[1]))]
    for y in range(size):
        ring = abs(y - rings) - 1
        label = names[ring] if ring >= 0 else spoken[6]
        line: list[Span] = [(f"{label:>{margin - 2}} ", "dim")]
        line.append(("[", "bold") if where.get((0, y)) in marked else (" ", ""))
        for x in range(size):
            spot = where.get((x, y))
            after = where.get((x + 1, y))
            if spot is None:
                # Sides of rings run down or across here.
                down, across = abs(x - rings) > abs(y - rings), abs(x - rings) < abs(y - rings)
                line.append(("-" * wide if across else f"{'|' if down else ' ':<{wide}}", "dim"))
            else:
                line += [*signs[spot], (" " * (wide - sum(len(text) for text, _ in signs[spot])), "")]
            if x + 1 == size:
                line.append(("]", "bold") if spot in marked else (" ", ""))
                continue
            along = _joined(x, y, rings)
            gap = (" -"[along]) * (pitch - wide)
            left = "]" if spot in marked else gap[0]
            right = "[" if after in marked else gap[-1]
            line += [(left, "bold" if spot in marked else "dim"), (gap[1:-1], "dim")]
            line.append((right, "bold" if after in marked else "dim"))
        if ring < 0:
            line.append((f" {spoken[2]}", "dim"))
        lines.append(line)
    lines.append(_header(margin, pitch, rings, (spoken[5], spoken[4], spoken[3])))
    return lines


def _joined(x: int, y: int, rings: int) -> bool:
    """Whether a line runs from a point to the next one on its right."""
    across, down = x - rings, abs(y - rings)
    if down == 0:
        return across not in (-1, 0)
    return -down <= across < down


def _header(margin: int, pitch: int, rings: int, names: Sequence[str]) -> list[Span]:
    step = pitch * rings
    left, middle, right = names
    return [(f"{' ' * margin}{left:<{step}}{middle:<{step}}{right}", "dim")]
