"""The flat Monte Carlo player: equally many random playouts after each of its moves, without a tree."""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np

from gdl.machine import Machine, State
from players.batch_machine import batch_machine_of
from players.batch_pace import Pace
from players.options import Option, at_least
from players.player import MARGIN, Candidate, Choice, Player

_BATCH = 512
_SCALAR_STEPS = 1000


class MonteCarloPlayer(Player):
    """Plays the move after which random playouts end best on average; the others' moves are random too."""

    name = "montecarlo"
    OPTIONS = (
        Option("playouts", int, None, "playouts per turn after which it stops early", public=at_least(1)),
    )

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        super().__init__(seed=seed, **options)
        self.playouts: int | None = self.options["playouts"]

    def prepare(self, state: State, deadline: float) -> None:
        self._rng = random.Random(f"{self.seed} {self.role}")
        self._set_machine(self.machine)

    def update_machine(self, machine: Machine) -> None:
        super().update_machine(machine)
        self._set_machine(machine)

    def _set_machine(self, machine: Machine) -> None:
        self._batch = batch_machine_of(machine)
        self._pace = Pace(self._batch.width, _BATCH, self._batch.warm_up())

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        batch = self._batch
        record = batch.retain(batch.record(state)[None, :])
        machine, roles = self.machine, range(len(self.machine.roles))
        others = [np.array(machine.legal_moves(state, role), np.int32) for role in roles]
        shuffled = self.in_order(options)
        self._rng.shuffle(shuffled)
        moves = np.array(shuffled, np.int32)
        totals, visits = np.zeros(len(moves)), np.zeros(len(moves), np.int64)
        numbers = np.random.default_rng(self._rng.getrandbits(63))
        done = 0
        while all(map(len, others)) and (self.playouts is None or done < self.playouts):
            began = time.monotonic()
            count, steps = self._pace.plan(deadline - began, not done)
            if self.playouts is not None:
                count, steps = min(count and _BATCH, self.playouts - done), _SCALAR_STEPS
            if count <= 0:
                break
            turn = np.arange(done, done + count) % len(moves)
            joint = np.stack([numbers.choice(legal, count) for legal in others], axis=1)
            joint[:, self.role] = moves[turn]
            after = batch.successors(np.repeat(record, count, axis=0), joint)
            ends = batch.playouts(after, int(numbers.integers(1 << 62)), steps, deadline - 2 * MARGIN)
            goals = ends.goals[:, self.role]
            np.add.at(totals, turn, np.where(goals < 0, 50, goals))
            np.add.at(visits, turn, 1)
            done += count
            if batch.width == 1:  # it stores every state it has met
                record = batch.retain(record)
            ended = time.monotonic()
            cut = int(np.count_nonzero(~ends.finished))
            self._pace.learn(count, ended - began, int(ends.lengths.max()), cut, deadline - ended)
        values = np.divide(totals, visits, out=np.full(len(moves), -1.0), where=visits > 0)
        ranked = np.argsort(-values, kind="stable")
        candidates = tuple(
            Candidate(int(moves[i]), int(visits[i]), float(max(values[i], 0.0))) for i in ranked if visits[i]
        )
        move = int(moves[ranked[0]])
        return Choice(move, candidates, f"{done:,} playouts" if done else "no time to search")
