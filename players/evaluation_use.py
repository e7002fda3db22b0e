"""A learnt value in a search: learnt before the first turn, it then has its say in the results of leaves."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gdl.syntax.parser import parse_rules
from players.batch_machine import NetworkBatch
from players.evaluation import Evaluation
from players.evaluation_fit import Features, fit
from players.evaluation_lessons import Lessons
from players.kaskade.make_machine import make_machine
from players.processes.warm_up_games import WARM_UP_GAMES
from players.uct.rollouts.trial import ByPlayouts, Trial
from propnet.machine import PropnetMachine

if TYPE_CHECKING:
    from players.uct.tuning import Tuning

log = logging.getLogger("players.evaluation")

_LEARNING = 0.1
"""Share of the time to the first deadline that is for learning..."""
_TRYING = 0.05
"""... and for trying whether it has helped."""
_FEWEST_SECONDS = 1.5
"""With less time than this to the deadline learning waits for a later one."""
_SLICE_SECONDS = 0.02
_AHEAD = 0.2
"""A value that does not get so much more than playouts (see :class:`Trial`) is not used. Where linear values
say little, as in games of lines, playouts win; where pieces count, values do (measured, ahead in 48 games
against 32 playouts a move: knightThrough +92 %, checkers +83 %, breakthrough +71 %, connect four -79 %)."""
_TRIED_PLAYOUTS = 32
_TRIED_STEPS = 500


_SHARPER = 3.0
"""The sums of weights count for so much more in a search than in the games they were learnt from, which
are decided by blunders."""
_EACH = 8
"""Playouts from each leaf where a value is used, ... (With these three and a share of 1 it won 9:6 in
breakthrough, 0.03 s a move: too few games to prove that it helps.)"""
_EXPLORE = 2 / 3
"""... and what becomes of the exploration constant: values differ less than playouts."""


class LearntValue:
    """What one search learns of the states of its machine."""

    def __init__(self, machine: PropnetMachine, seed: int, share: float) -> None:
        """``share``, 0..1: how much the value counts for in the result of a leaf."""
        self._machine = machine
        self._seed = seed
        self._share = share
        self._tried: Evaluation | None = None
        self._trial: Trial | None = None
        self._used: Evaluation | None = None
        self._course: Iterator[None] | None = None
        self._learning = True

    def learn(self, deadline: float) -> bool:
        """Learn for some milliseconds. Returns whether it did.

        ``deadline``: when the first search must be over; time.monotonic() seconds."""
        if not self._learning:
            return False
        now = time.monotonic()
        if self._course is None:
            if deadline - now < _FEWEST_SECONDS:
                return False
            self._course = self._learn(now, deadline - now)
        for _ in self._course:
            if time.monotonic() > now + _SLICE_SECONDS:
                return True
        self._learning = False
        return True

    def _learn(self, now: float, seconds: float) -> Iterator[None]:
        lessons = Lessons(self._machine, self._seed)
        learnt_by = now + _LEARNING * seconds
        yield from lessons.go_on(learnt_by)
        if lessons.evaluation is None:
            return
        lanes = NetworkBatch(self._machine, self._machine)
        playouts = ByPlayouts(lanes, self._seed, _TRIED_PLAYOUTS, _TRIED_STEPS)
        self._tried = lessons.evaluation
        self._trial = Trial(lanes, lessons.evaluation, playouts, self._seed)
        yield from self._trial.play(learnt_by + _TRYING * seconds)
        if self._trial.ahead >= _AHEAD:
            tables = lessons.evaluation.tables * np.float32(_SHARPER)
            self._used = replace(lessons.evaluation, tables=tables)
        log.info("%s", self)

    def tuned(self, tuning: Tuning) -> Tuning:
        """The tuning for a search with the value, where one is in use and none was fixed by hand."""
        if self._used is None or tuning.per_leaf:
            return tuning
        return replace(tuning, per_leaf=_EACH, explore=tuning.explore * _EXPLORE)

    def mix(self, records: NDArray[np.uint64], rows: NDArray[np.int64], results: NDArray[np.float64]) -> None:
        """Let the values of states (n, words), where one was found to be good, have their share in
        ``results[rows]``; rows (n,)."""
        if self._used is not None:
            results[rows] += self._share * (self._used.values(records) - results[rows])

    def __str__(self) -> str:
        if self._trial is None:
            return "no value learnt"
        use = "in use" if self._used is not None else "not used"
        tried = f"{self._trial.ahead:+.0%} against playouts in {self._trial.games} games"
        return f"{self._tried}, {tried}: {use}"


def warm_up() -> None:
    """Compile the kernels, or load them from numba's cache, so that no match has to wait for it."""
    machine = make_machine(parse_rules(WARM_UP_GAMES[-1], "warm-up"), "propnet")
    assert isinstance(machine, PropnetMachine)
    next(Lessons(machine, 0).go_on(math.inf))
    features = Features(machine.network.bases, machine.words)
    records = machine.records([machine.initial_state()])
    fit(features, records, np.ones(1), np.zeros(features.count), lambda: False)
