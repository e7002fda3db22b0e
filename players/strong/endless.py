"""The values of games in which play may come back to a state: retrograde analysis (Thompson 1986).

First come states all of whose successors have values, from the last layer to the first, again and again
until none is left: that is all of a game without cycles. Then, round by round, states from which a role can
force an outcome within so many moves. What is left is play that need not end. Its outcome is that of
:meth:`players.strong.outcomes.Outcomes.endless`; a state from which nobody can force a better one for
himself has it too, also where the game may end with the same goals.
"""

from __future__ import annotations

import numpy as np

from gdl.errors import GdlError
from players.strong.backward import ValuedSet, ValueFinder
from players.strong.choice_kernels import SETTLED, UNKNOWN
from players.strong.forward import Reachable, Watch
from players.strong.outcomes import Outcomes
from players.strong.row_kernels import FINGERS, find_rows
from players.strong.row_sets import as_set
from propnet.jit.arrays import Ints, Words
from propnet.machine import PropnetMachine


def values_by_rounds(
    machine: PropnetMachine, found: Reachable, outcomes: Outcomes, watch: Watch
) -> tuple[ValuedSet, bool]:
    """All states as one set, with their values, and whether the game has cycles.

    Raises GdlError as :meth:`players.strong.backward.ValueFinder.judge`, and for a game with cycles in which
    two roles' wishes are not opposed, or more than two play.
    """
    layers = [layer.rows() for layer in found.layers]
    rows = as_set(np.concatenate(layers))
    known = ValuedSet(rows, np.zeros(len(rows), np.uint8), np.full(len(rows), UNKNOWN, np.uint16))
    judge = ValueFinder(machine, outcomes)
    left = _settle_ends_first(judge, layers, known, watch)
    if not len(left):
        return known, False
    endless = outcomes.endless()
    if not outcomes.opposed():
        raise GdlError(
            "the game has cycles, and its roles are not two opponents: play without end has no value there",
            remedy="games without cycles may have any roles and goals",
        )
    _force(judge, left, known, endless, watch)
    return known, True


def _settle_ends_first(judge: ValueFinder, layers: list[Words], known: ValuedSet, watch: Watch) -> Words:
    """Give a value to all states whose successors have one. Returns the set of the others."""
    left = layers
    settled = 0
    while True:
        before = settled
        for depth in range(len(left) - 1, -1, -1):
            if not len(left[depth]):
                continue
            values, distances, fates = judge.judge(left[depth], known)
            done = fates == SETTLED
            places = _places(known.rows, left[depth][done])
            known.values[places] = values[done]
            known.distances[places] = distances[done]
            left[depth] = left[depth][~done]
            settled += len(places)
            watch("backward", depth, settled)
        if settled == before:
            return as_set(np.concatenate(left))
        if settled == len(known.rows):
            return known.rows[:0]


def _force(judge: ValueFinder, left: Words, known: ValuedSet, endless: int, watch: Watch) -> None:
    """Give a value to the states that are left: in round n that of n more moves, then play without end."""
    places = _places(known.rows, left)
    known.values[places] = endless
    decided = known.distances[known.distances < UNKNOWN]
    longest = int(decided.max()) if len(decided) else 0
    order = judge.outcomes.ranks[0]
    height = order - order[endless]
    best, worst = int(height.max()), int(height.min())
    round_number = 0
    while len(left) and round_number < UNKNOWN - 1:
        round_number += 1
        values, _, _ = judge.judge(left, known, round_number - 1, endless)
        now, before = height[values], height[known.values[places]]
        # Values only ever go away from that of play without end.
        further = ((now > before) & (before >= 0)) | ((now < before) & (before <= 0))
        known.values[places[further]] = values[further]
        known.distances[places[further]] = round_number
        if not further.any() and round_number > longest:
            return
        final = further & ((now == best) | (now == worst))
        left, places = left[~final], places[~final]
        watch("backward", round_number, len(known.rows) - len(left))


def _places(rows: Words, wanted: Words) -> Ints:
    """Where the records of one set are in another, which holds them all."""
    places = np.empty(len(wanted), np.int64)
    none = np.zeros((len(wanted), 1), np.int32)
    if find_rows(rows, wanted, none, np.zeros(FINGERS, np.int64), places):
        raise AssertionError("a state is not among all states")
    return places
