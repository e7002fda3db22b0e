"""A common interface to machines with and without lanes: states as packed records, many at once.

A *record* is a row of 64-bit words that stands for one state: on a network machine its packed propositions,
on others the state's number in a list that the batch machine holds.
"""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gdl.information import chance_role
from gdl.machine import Machine, State
from propnet.capabilities import lane_machine

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

Records = NDArray[np.uint64]
Weights = NDArray[np.uint8]
_MoveLists = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Counts of moves, shape (n, roles), and their ids row by row, role by role."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The results of a batch of playouts.

    Attributes:
        goals: int16, shape (n, roles); -1 if a role has no value.
        lengths: int32, shape (n,): joint moves played; 0 if the match was over already.
        finished: bool, shape (n,): whether the match could not go on; False if the playout was cut.
    """

    goals: NDArray[np.int16]
    lengths: NDArray[np.int32]
    finished: NDArray[np.bool_]


class BatchMachine(ABC):
    """Batched questions to one machine.

    Attributes:
        machine: the machine.
        words: 64-bit words per record.
        width: number of records that cost about as much as one.
        role_moves: int32, shape (roles + 1,): where each role's moves begin in arrays with a column for
            every move, in the order of their ids; the last item is the number of moves. Shape (0,) if the
            machine numbers moves as they occur: then playouts accept neither weights nor tallies.
        guided: whether playouts leave out blunders (:mod:`propnet.guides`).
        exact: whether the favoured moves include the best ones in games where one role wins what the other
            loses.
    """

    machine: Machine
    words: int
    width: int
    role_moves: NDArray[np.int32]
    guided: bool = False
    exact: bool = False

    @abstractmethod
    def record(self, state: State) -> Records:
        """The record, shape (words,), of a state of the machine."""

    @abstractmethod
    def legal(self, records: Records) -> _MoveLists:
        """Legal moves of each record."""

    def favoured(self, records: Records) -> _MoveLists:
        """As :meth:`legal`, but without the moves that playouts leave out."""
        return self.legal(records)

    @abstractmethod
    def successors(self, records: Records, moves: NDArray[np.int32]) -> Records:
        """The records that follow under one joint move each; ``moves`` has shape (n, roles)."""

    @abstractmethod
    def playouts(
        self,
        records: Records,
        seed: int,
        max_steps: int,
        deadline: float,
        each: int = 1,
        *,
        weights: Weights | None = None,
        tallies: NDArray[np.int32] | None = None,
        counted: int | None = None,
    ) -> Ends:
        """Random playouts, ``each`` from every record (playout i from record ``i // each``), cut after
        ``max_steps`` or at the deadline.

        Args:
            weights: uint8, shape (moves,), 0 to 7: a role chooses a legal move with a probability
                proportional to 2**weight; None for uniform probabilities.
            tallies: int32, shape (moves, 2), in C order, to which is added: the number of playouts with this
                move at least once while its role had several, and the sum of that role's goals (0..100) over
                these. Playouts that leave a role without a goal do not count for it.
            counted: number of the playouts from each record that count, by default all.
        """

    @abstractmethod
    def playout_moves(self, row: int) -> list[int]:
        """The moves of the first role in one playout of the last call of :meth:`playouts`."""

    @abstractmethod
    def ask_once(self) -> None:
        """Compile the kernels that the first query about moves and states would otherwise wait for."""

    @abstractmethod
    def warm_up(self) -> float:
        """As :meth:`ask_once`, for playouts too. Returns the seconds that one step of a batch of playouts
        takes."""

    def retain(self, records: Records) -> Records:
        """Forget all records but these; returns their new records."""
        return records


class NetworkBatch(BatchMachine):
    """A network machine with lanes. Playouts run on ``playing``, which has the same states and moves.

    Only this class imports kernels, so players on the prover start without them.
    """

    def __init__(self, machine: PropnetMachine, playing: PropnetMachine) -> None:
        from propnet.kernels.weighted_choice import UNIFORM

        self.machine: PropnetMachine = machine
        self._playing = playing
        self.guided = playing is not machine
        self.exact = self.guided and machine.exact
        self.words = machine.words
        self.width = 512
        self.role_moves = machine.role_moves
        self._weights: Weights | None = None
        self._policy = self._uniform = UNIFORM

    @property
    def without_guide(self) -> NetworkBatch:
        """The same machine, with playouts that may choose every legal move."""
        return NetworkBatch(self.machine, self.machine)

    def ask_once(self) -> None:
        records = self.machine.records([self.machine.initial_state()])
        self.machine.evaluate(records)
        if np.diff(self.role_moves).all():  # otherwise some role never has a move
            self.machine.successors(records, np.zeros((1, len(self.machine.roles)), np.int32))

    def warm_up(self) -> float:
        self.ask_once()
        records = self.machine.records([self.machine.initial_state()])
        self._playing.playouts_from(records, 0, 1)
        began = time.monotonic()
        self._playing.playouts_from(np.repeat(records, self.width, axis=0), 0, 4)
        return (time.monotonic() - began) / 5

    def record(self, state: State) -> Records:
        return np.array(self.machine.records([state])[0])

    def legal(self, records: Records) -> _MoveLists:
        return self._lists(self.machine, records)

    def favoured(self, records: Records) -> _MoveLists:
        return self._lists(self._playing, records)

    def _lists(self, machine: PropnetMachine, records: Records) -> _MoveLists:
        from players.move_lists import unpack_moves

        counts, moves = unpack_moves(machine.evaluate(records).legal, self.role_moves)
        return counts, moves

    def successors(self, records: Records, moves: NDArray[np.int32]) -> Records:
        return self.machine.successors(records, moves)

    def playouts(
        self,
        records: Records,
        seed: int,
        max_steps: int,
        deadline: float,
        each: int = 1,
        *,
        weights: Weights | None = None,
        tallies: NDArray[np.int32] | None = None,
        counted: int | None = None,
    ) -> Ends:
        if weights is not self._weights:
            from propnet.kernels.weighted_choice import policy_of

            self._weights = weights
            fair = None if weights is None else self._fair(weights)
            self._policy = self._uniform if fair is None else policy_of(fair, self.role_moves)
        policy = self._policy
        ends = self._playing.playouts_from(
            records, seed, max_steps, each, policy=policy, tallies=tallies, counted=counted
        )
        self._last = records, seed, max_steps, each, ends.lengths, policy
        return Ends(ends.goals, ends.lengths, ends.lengths < max_steps)

    @property
    def carries(self) -> bool:
        """Whether :meth:`playouts_while` is as fast as :meth:`playouts`."""
        return self._playing.carries

    def playouts_while(
        self, fewest: int, most: int, records: Records, made: NDArray[np.int32], seed: int, max_steps: int
    ) -> tuple[Ends, NDArray[np.int32], Records]:
        """Uniformly random playouts, some of which continue earlier ones: see
        :meth:`propnet.machine.PropnetMachine.playouts_while`."""
        ends, playout_in, states = self._playing.playouts_while(fewest, most, records, made, seed, max_steps)
        return Ends(ends.goals, ends.lengths, ends.lengths < max_steps), playout_in, states

    def _fair(self, weights: Weights) -> Weights:
        """The weights, but equal ones for chance moves."""
        if (chance := chance_role(self.machine.roles)) is None:
            return weights
        fair = weights.copy()
        fair[self.role_moves[chance] : self.role_moves[chance + 1]] = 0
        return fair

    def playout_moves(self, row: int) -> list[int]:
        records, seed, max_steps, each, lengths, policy = self._last
        moves = self._playing.playout_moves(records, row, int(lengths[row]), seed, max_steps, each, policy)
        return [int(move) for move in moves[:, 0]]


class _ScalarBatch(BatchMachine):
    """Any machine, one state at a time; its playouts take no weights and no tallies."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.words = self.width = 1
        self._states: list[State] = []
        self._numbers: dict[State, int] = {}
        self._roles = range(len(machine.roles))
        self.role_moves = np.zeros(0, np.int32)

    def ask_once(self) -> None:
        self.warm_up()

    def warm_up(self) -> float:
        state = self.machine.initial_state()
        began = 0.0
        for _ in range(2):
            began = time.monotonic()
            options = [self.machine.legal_moves(state, role) for role in self._roles]
            if self.machine.is_terminal(state) or not all(options):
                break
            state = self.machine.next_state(state, [moves[0] for moves in options])
        return time.monotonic() - began

    def record(self, state: State) -> Records:
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
        return np.array([number], np.uint64)

    def legal(self, records: Records) -> _MoveLists:
        lists = [
            [self.machine.legal_moves(self._states[number], role) for role in self._roles]
            for number in records[:, 0].tolist()
        ]
        counts = np.array([[len(moves) for moves in row] for row in lists], np.int32)
        return counts, np.array([move for row in lists for moves in row for move in moves], np.int32)

    def successors(self, records: Records, moves: NDArray[np.int32]) -> Records:
        pairs = zip(records[:, 0].tolist(), moves.tolist(), strict=True)
        return np.stack([self.record(self.machine.next_state(self._states[n], joint)) for n, joint in pairs])

    def playouts(
        self, records: Records, seed: int, max_steps: int, deadline: float, each: int = 1, **_: object
    ) -> Ends:
        machine, rng = self.machine, random.Random(seed)
        n = len(records) * each
        goals = np.full((n, len(self._roles)), -1, np.int16)
        lengths = np.zeros(n, np.int32)
        self._traces: list[list[int]] = []
        finished = np.ones(n, np.bool_)
        for playout, number in enumerate(np.repeat(records[:, 0], each).tolist()):
            state = self._states[number]
            trace: list[int] = []
            while not (terminal := machine.is_terminal(state)):
                options = [machine.legal_moves(state, role) for role in self._roles]
                if not all(options):
                    break
                if len(trace) >= max_steps or time.monotonic() > deadline:
                    finished[playout] = False
                    break
                joint = [rng.choice(moves) for moves in options]
                trace.append(joint[0])
                state = machine.next_state(state, joint)
            if terminal or not finished[playout]:
                goals[playout] = [
                    -1 if g is None else g for g in (machine.result(state, r) for r in self._roles)
                ]
            lengths[playout] = len(trace)
            self._traces.append(trace)
        return Ends(goals, lengths, finished)

    def playout_moves(self, row: int) -> list[int]:
        return self._traces[row]

    def retain(self, records: Records) -> Records:
        self._states = [self._states[number] for number in records[:, 0].tolist()]
        self._numbers = {state: number for number, state in enumerate(self._states)}
        return np.arange(len(records), dtype=np.uint64).reshape(-1, 1)


def batch_machine_of(machine: Machine, *, decisive: bool = False) -> BatchMachine:
    """The batch machine that fits a machine; ``decisive`` playouts use the machine's guide, if it has one
    (:class:`players.kaskade.guided_machine.GuidedMachine`)."""
    network = lane_machine(machine)
    if network is None:
        return _ScalarBatch(machine)
    return NetworkBatch(network, network.playout_machine if decisive else network)
