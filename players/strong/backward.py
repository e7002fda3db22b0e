"""The values of a game whose layers have no state in common: one pass from the last layer to the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.ends import no_move, stuck_roles
from gdl.errors import GdlError, RulesError
from players.strong.choice_kernels import (
    CROWD,
    ENDLESS_MATRIX,
    NO_SADDLE,
    SETTLED,
    UNKNOWN,
    WITHOUT_ROWS,
    choose,
)
from players.strong.forward import Reachable, Watch
from players.strong.outcomes import Outcomes
from players.strong.row_kernels import FINGERS, find_rows
from players.strong.row_sets import SetSignature
from propnet.expander import ROWS, Expander, Expansion
from propnet.jit.arrays import Ints, Octets, Words
from propnet.machine import PropnetMachine

Distances = NDArray[np.uint16]

NEVER = -1
"""Stands for the number of an outcome: there is none for play without end."""


@dataclass(frozen=True, slots=True)
class ValuedSet:
    """A set of states with their values.

    Attributes:
        rows: set (n, words) of records.
        values: uint8 (n,): numbers of outcomes.
        distances: uint16 (n,): joint moves to the end under best play; UNKNOWN where it never ends.
    """

    rows: Words
    values: Octets
    distances: Distances


Keep = Callable[[int, ValuedSet, SetSignature], None]
"""Takes a layer, by its number, with its values, before its arrays are given up."""


class ValueFinder:
    """Finds values of states from those of their successors: expands, looks up, chooses."""

    def __init__(self, machine: PropnetMachine, outcomes: Outcomes) -> None:
        self.machine = machine
        self.outcomes = outcomes
        self._expander = Expander(machine)
        self._fingers = np.zeros(FINGERS, np.int64)
        self._batch = 1 << 10

    def judge(
        self, rows: Words, known: ValuedSet, horizon: int = UNKNOWN - 1, endless: int = NEVER
    ) -> tuple[Octets, Distances, Octets]:
        """The values, distances and fates (:mod:`players.strong.choice_kernels`) of a set of states
        (n, words), whose successors are all in ``known``.

        Raises GdlError where two roles choose at once and no pure saddle point exists, or more than two
        choose; RulesError for a state that is not terminal and leaves a role without a move.
        """
        n = len(rows)
        values, distances = np.zeros(n, np.uint8), np.full(n, UNKNOWN, np.uint16)
        fates = np.full(n, WITHOUT_ROWS, np.uint8)
        first = 0
        while first < n:
            batch = slice(first, min(n, first + self._batch))
            self._judge_batch(
                rows[batch], known, horizon, endless, values[batch], distances[batch], fates[batch]
            )
            first = batch.stop
        return values, distances, fates

    def _judge_batch(
        self,
        rows: Words,
        known: ValuedSet,
        horizon: int,
        endless: int,
        values: Octets,
        distances: Distances,
        fates: Octets,
    ) -> None:
        chunk = self._all_successors(rows)
        places, known_values, known_distances = self._look(chunk, known)
        choose(
            chunk.parents, chunk.moves, places, known_values, known_distances, self.outcomes.ranks,
            self.outcomes.longer, horizon, endless, values, distances, fates,
        )  # fmt: skip
        self._end(rows, values, distances, fates)
        self._refuse(rows, fates)

    def _look(self, chunk: Expansion, known: ValuedSet) -> tuple[Ints, Octets, Distances]:
        """For each successor a place in values and distances, and these."""
        places = np.empty(len(chunk), np.int64)
        if find_rows(known.rows, chunk.records, chunk.moves, self._fingers, places):
            raise AssertionError("a successor is in no layer")
        return places, known.values, known.distances

    def _all_successors(self, rows: Words) -> Expansion:
        """All successors of a batch; the next batch is as large as fits into the expander's rows."""
        chunks: list[Expansion] = []
        for chunk in self._expander.stream(rows):
            # A chunk that is not half full is the last one: its arrays stay.
            chunks.append(chunk if 2 * len(chunk) < ROWS else chunk.copy())
        if not chunks:
            return self._expander.expand(rows[:0])
        total = sum(map(len, chunks))
        self._batch = int(min(1 << 15, max(16, 0.45 * ROWS * len(rows) / total)))
        if len(chunks) == 1:
            return chunks[0]
        names = ("parents", "moves", "records", "terminal", "goals")
        return Expansion(*(np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in names))

    def _end(self, rows: Words, values: Octets, distances: Distances, fates: Octets) -> None:
        """Give the states without successors the outcome that the rules say."""
        ends = np.flatnonzero(fates == WITHOUT_ROWS)
        if not len(ends):
            return
        answer = self.machine.evaluate(rows[ends])
        if not answer.terminal.all():
            state = self.machine.states(rows[ends[np.argmin(answer.terminal)]][None])[0]
            raise RulesError(no_move(state, stuck_roles(state)), remedy="see `ggp validate`")
        values[ends] = self.outcomes.number(answer.goals)
        distances[ends] = 0
        fates[ends] = SETTLED

    def _refuse(self, rows: Words, fates: Octets) -> None:
        """Raise the error for a state that has no value of this kind."""
        for fate, why in (
            (NO_SADDLE, "two roles move at once, and no pair of moves is best against each other"),
            (CROWD, "three roles or more choose at once"),
            (ENDLESS_MATRIX, "two roles move at once, and play may come back to the same state"),
        ):
            if (fates == fate).any():
                state = rows[np.argmax(fates == fate)][None]
                raise GdlError(
                    f"the game has no value in pure strategies that can be told: {why}, as in "
                    f"{self._spelled(state)}",
                    remedy="only play by chance is best there; uct plays such games",
                )

    def _spelled(self, record: Words) -> str:
        """The propositions of a state, given by its record (1, words)."""
        return " ".join(sorted(map(str, self.machine.states(record)[0].propositions)))


def values_by_layers(
    machine: PropnetMachine, found: Reachable, outcomes: Outcomes, keep: Keep, watch: Watch
) -> ValuedSet:
    """Find the values of a layered game, and hand each layer to ``keep``. Returns the first one. Raises as
    :meth:`ValueFinder.judge`."""
    finder = ValueFinder(machine, outcomes)
    known = ValuedSet(np.empty((0, machine.words), np.uint64), np.empty(0, np.uint8), np.empty(0, np.uint16))
    done = 0
    for depth in range(len(found.layers) - 1, -1, -1):
        layer = found.layers[depth]
        values, distances = np.empty(len(layer), np.uint8), np.empty(len(layer), np.uint16)
        at = 0
        for part in layer.blocks():
            to = slice(at, at + len(part))
            values[to], distances[to], fates = finder.judge(part, known)
            assert (fates == SETTLED).all()
            at = to.stop
            watch("backward", depth, done + at)
        del known  # its rows make room for those of this layer
        known = ValuedSet(layer.rows(), values, distances)
        keep(depth, known, found.signatures[depth])
        done += at
    return known
