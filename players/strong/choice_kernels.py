"""The roles' choices in a state whose successors have values (kernels).

A state's value is a pair: the number of an outcome (:mod:`players.strong.outcomes`) and the *distance* to it,
in joint moves. If one role has a choice, it takes the outcome that it likes best, by the way that it likes
best. If two roles choose at the same time, the outcome is a saddle point of the matrix of joint moves: a cell
in which neither role alone can get one that it likes better (von Neumann 1928).
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints, Octets
from propnet.jit.decorators import inner, kernel

UNKNOWN = 65_535
"""The distance of a state of unknown value."""

SETTLED, OPEN, NO_SADDLE, CROWD, ENDLESS_MATRIX = 0, 1, 2, 3, 4
"""Fates of a state: it has a value; it waits for others; its matrix has no saddle point; three roles or more
choose at the same time; two do, and play may not end."""

WITHOUT_ROWS = 255
"""The fate of a state without successors, before it is examined."""

_FAR = 1 << 17
"""More than any distance."""


@kernel(nogil=True)
def choose(
    parents: Int32s,
    moves: Int32s,
    places: Ints,
    values: Octets,
    distances: Ints,
    ranks: Int32s,
    longer: Int32s,
    horizon: int,
    endless: int,
    out_values: Octets,
    out_distances: Ints,
    fates: Octets,
    blockers: Ints,
) -> None:
    """Give values to states whose successors are rows: ``parents`` (m,) ascending, ``moves`` (m, roles) and
    their ``places`` (m,) in ``values`` and ``distances`` (uint16).

    Values at a distance above ``horizon`` count as unknown. If ``endless`` is negative, a state with such a
    successor stays OPEN, and ``blockers`` gets the place of the first one. Otherwise such a successor has the
    outcome ``endless``, and the lengths of ways do not matter. ``ranks``, ``longer`` are those of
    :class:`players.strong.outcomes.Outcomes`. Writes ``out_values``, ``out_distances`` and ``fates`` of the
    parents; those of states without rows stay unchanged.
    """
    m = np.int64(parents.size)
    first: Index = np.int64(0)
    while first < m:
        parent = parents[first]
        last = first + 1
        while last < m and parents[last] == parent:
            last += 1
        _settle(
            moves, places, values, distances, ranks, longer, horizon, endless, first, last,
            out_values, out_distances, fates, blockers, np.int64(parent),
        )  # fmt: skip
        first = last


@inner
def _settle(
    moves: Int32s,
    places: Ints,
    values: Octets,
    distances: Ints,
    ranks: Int32s,
    longer: Int32s,
    horizon: int,
    endless: int,
    first: Index,
    last: Index,
    out_values: Octets,
    out_distances: Ints,
    fates: Octets,
    blockers: Ints,
    parent: Index,
) -> None:
    """Give a value to one state, whose successors are the rows from ``first`` to ``last``."""
    if endless < 0:
        for row in range(first, last):
            if distances[places[row]] > horizon:
                fates[parent] = OPEN
                blockers[parent] = places[row]
                return
    chooser, second, choosers = np.int64(0), np.int64(0), 0
    for role in range(moves.shape[1]):
        # The last row has every role's last move.
        if moves[first, role] != moves[last - 1, role]:
            if choosers == 0:
                chooser = np.int64(role)
            second = np.int64(role)
            choosers += 1
    best = first
    if choosers <= 1:
        best_liking = np.int64(-1) << 60
        for row in range(first, last):
            value, distance = _look(places[row], values, distances, horizon, endless)
            liking = np.int64(ranks[chooser, value]) * _FAR
            if endless < 0:
                liking += longer[chooser, value] * distance
            if liking > best_liking:
                best, best_liking = row, liking
    elif choosers == 2 and endless >= 0:
        fates[parent] = ENDLESS_MATRIX
        return
    elif choosers == 2:
        best = _saddle(
            moves, places, values, distances, ranks, horizon, endless, first, last, chooser, second
        )
        if best < 0:
            fates[parent] = NO_SADDLE
            return
    else:
        fates[parent] = CROWD
        return
    value, distance = _look(places[best], values, distances, horizon, endless)
    out_values[parent] = value
    out_distances[parent] = distance + 1
    fates[parent] = SETTLED


@inner
def _look(
    place: Index, values: Octets, distances: Ints, horizon: int, endless: int
) -> tuple[np.int64, np.int64]:
    """A successor's outcome and distance, as far as they are known."""
    distance = np.int64(distances[place])
    if endless >= 0 and distance > horizon:
        return np.int64(endless), np.int64(UNKNOWN - 1)
    return np.int64(values[place]), distance


@inner
def _saddle(
    moves: Int32s,
    places: Ints,
    values: Octets,
    distances: Ints,
    ranks: Int32s,
    horizon: int,
    endless: int,
    first: Index,
    last: Index,
    one: Index,
    two: Index,
) -> Index:
    """The first row that is a saddle point of two roles' matrix, or -1. Role ``two``'s move changes first."""
    width = np.int64(1)
    while moves[first + width, one] == moves[first, one]:
        width += 1
    for row in range(first, last):
        value, _ = _look(places[row], values, distances, horizon, endless)
        line: Index = first + (row - first) // width * width
        holds = True
        for other in range(line, line + width):
            rival, _ = _look(places[other], values, distances, horizon, endless)
            holds &= ranks[two, rival] <= ranks[two, value]
        below: Index = first + (row - first) % width
        while holds and below < last:
            rival, _ = _look(places[below], values, distances, horizon, endless)
            holds &= ranks[one, rival] <= ranks[one, value]
            below += width
        if holds:
            return row
    return np.int64(-1)
