"""`DeadlockPolicy`: playouts of games that are Sokoban, in which no box is pushed where it is lost.

Single boxes and pairs that are lost wherever the keeper is are compiled into the network; larger sets, and
those that depend on the keeper, are looked up at each step.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from players.puzzles.sokoban.dead_moves import DeadMoves
from players.puzzles.sokoban.recognition.recognise import recognise
from players.uct.rollouts.policy import Look, RolloutPolicy
from propnet.guides.dead_ends import all_true, with_nogoods
from propnet.machine import PropnetMachine


class DeadlockPolicy(RolloutPolicy):
    """Equal chances for all legal moves that do not make a dead set of boxes. In a game that is not Sokoban,
    for all legal moves.

    Args:
        machine: the game's.
    """

    name: ClassVar[str] = "deadlocks"

    def __init__(self, machine: PropnetMachine) -> None:
        game = recognise(machine)
        self._dead = DeadMoves(game) if game is not None else None
        self.looks = self._dead is not None
        self._machines: dict[int, PropnetMachine] = {}

    def network(self, machine: PropnetMachine) -> PropnetMachine:
        if self._dead is None:
            return machine
        key = id(machine)
        if key not in self._machines:
            sets = [all_true(bases) for bases in self._dead.small_sets()]
            self._machines = {key: with_nogoods(machine, sets)}
        return self._machines[key]

    def look(self, records: NDArray[np.uint64], legal: NDArray[np.bool_], step: int) -> Look:
        return Look(left_out=self._dead.lost(records, legal)) if self._dead is not None else Look()
