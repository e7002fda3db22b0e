"""The phases of a game: what its clocks alone say about who may move, and when the match is over.

Clocks (:mod:`propnet.analysis.cones`) run the same way whatever is played. In each of their states ternary
simulation, which knows nothing else, tells which roles may have a choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.ternary import Ternary, unpack_cases

EFFORT = 20_000_000
"""Gate inputs that may be looked at (see docs/measurements.md)."""


@dataclass(frozen=True, slots=True)
class Phases:
    """What clocks tell: whether a role may have more than one legal move, shape (phases, roles); which clocks
    ever change, shape (bases,); after how many joint moves the match is over whatever is played, None
    if no clock ends it; the clocks' values, shape (phases, clocks); and the phase that follows the last one,
    None if the match is over then."""

    choosing: NDArray[np.bool_]
    ticking: NDArray[np.bool_]
    end: int | None
    states: NDArray[np.bool_]
    again: int | None

    @property
    def alternating(self) -> bool:
        """Whether two roles never have a choice at the same time."""
        return bool((self.choosing.sum(axis=1) < 2).all())


def phases(ternary: Ternary, clocks: NDArray[np.bool_], effort: int = EFFORT) -> Phases | None:
    """Follow the clocks until they repeat a state, or the match is over; None if the effort is too small."""
    network, cost = ternary.network, max(1, len(ternary.network.gate_inputs))
    places = np.flatnonzero(clocks)
    values = np.asarray(network.initial, np.bool_)[places]
    choosing: list[list[bool]] = []
    states: list[NDArray[np.bool_]] = []
    seen: dict[bytes, int] = {}
    end: int | None = None
    ticking = np.zeros_like(clocks)
    while values.tobytes() not in seen:
        seen[values.tobytes()] = len(states)
        effort -= cost
        if effort < 0:
            return None
        rows = ternary.unknown(1)
        rows[2 * places] = np.where(values, ~np.uint64(0), np.uint64(0))[:, None]
        rows[2 * places + 1] = ~rows[2 * places]
        step = ternary.step(rows)
        if not step.may[network.terminal_literal ^ 1, 0]:
            end = len(choosing)
            break
        states.append(values)
        legal = step.may[network.legal_literals, 0] != 0
        choosing.append([bool(np.count_nonzero(legal[a:b]) > 1) for a, b in pairwise(ternary.role_offsets)])
        following = unpack_cases(step.following[2 * places], 1)[0]
        ticking[places[following != values]] = True
        values = following
    return Phases(
        choosing=np.array(choosing, np.bool_).reshape(-1, len(network.roles)),
        ticking=ticking,
        end=end,
        states=np.array(states, np.bool_).reshape(len(states), len(places)),
        again=seen[values.tobytes()] if end is None else None,
    )
