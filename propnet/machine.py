"""`PropnetMachine`: the machine that evaluates a propositional network for 512 states at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gdl.errors import MoveError, StateError
from gdl.machine import Machine, Playouts, State
from gdl.rules import Rules
from gdl.terms import Term
from propnet.jit.arrays import Flags, Goals, Int32s, Ints, Words
from propnet.jit.blas import spare_import
from propnet.jit.random_numbers import streams
from propnet.jit.vector512 import LANES
from propnet.kernels import evaluate as given_states
from propnet.kernels.kernel_args import KernelArgs, kernel_args, with_rests
from propnet.kernels.plan import Plan, plan
from propnet.kernels.playouts import playouts
from propnet.kernels.records import pack, record_words, unpack
from propnet.kernels.scratch import new_scratch
from propnet.kernels.weighted_choice import UNIFORM, Policy
from propnet.network import Network
from propnet.rests import rests
from propnet.single.one_state import OneState

if TYPE_CHECKING:
    from gdl.grounding.ground_rules import GroundRules

spare_import()

_NO_LANES, _NO_STATES = np.zeros(0, np.int32), np.zeros((0, 1), np.uint64)
_NO_TRACE, _NO_TALLIES = np.zeros((0, 0), np.int32), np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The terminal flags, goals and legal moves of n states.

    Attributes:
        terminal: bool, shape (n,).
        goals: int16, shape (n, roles): 0..100, the highest value that holds; -1 for a role without one.
        legal: uint64, shape (n, move_words): bit m of a row is set if move m is legal. The moves of all
            roles are numbered in role order (role r's begin at ``role_moves[r]``).
    """

    terminal: Flags
    goals: Goals
    legal: Words


class PropnetMachine(Machine):
    """A machine that runs a network in the bit-sliced interpreter.

    Ids of propositions and moves are their places in ``network.bases`` and ``network.moves[role]``. A
    state's key is the bytes of its record (:mod:`propnet.kernels.records`).

    For players and solvers that hold many states there are methods on arrays of records:
    :meth:`evaluate`, :meth:`successors`, :meth:`playouts_from`. Only one thread at a time may use a
    machine: its kernels work in its scratch arrays.

    Attributes:
        words: 64-bit words of a state record.
        move_words: 64-bit words of a row of legal moves.
        role_moves: int32, shape (roles + 1,): the number of each role's first move among all moves.
        role_percepts: int32, shape (roles + 1,): the number of each role's first percept among all percepts.
        plan, kernel_args: the layout of the network for the kernels, and their arguments made of it.
        scratch: the arrays in which kernels work; no call depends on the contents that another one left.
    """

    level = "propnet"
    has_lanes = True
    ground: GroundRules | None = None
    """The rules that the network was built from, if they are available and not large."""
    carries: bool = True
    """Whether :meth:`playouts_while` is as fast as :meth:`playouts_from`."""
    exact: bool = False
    """Whether, in zero-sum games, :attr:`playout_machine` leaves out no move that is better than the best
    move that it keeps."""

    def __init__(self, rules: Rules, network: Network) -> None:
        super().__init__(rules, network.roles)
        self.network = network
        self.words = record_words(len(network.bases))
        self.move_words = record_words(network.move_count)
        self.plan, args = self._laid_out()
        self.kernel_args = with_rests(args, rests(network))
        self.role_moves: Int32s = self.plan.role_moves
        own_percepts = network.percepts or ((),) * len(network.roles)
        self.role_percepts: Int32s = np.cumsum([0, *map(len, own_percepts)]).astype(np.int32)
        self.scratch = new_scratch(self.plan)
        self._base_ids = {term: i for i, term in enumerate(network.bases)}
        self._move_ids = [{term: i for i, term in enumerate(moves)} for moves in network.moves]
        self._initial = pack(np.asarray(network.initial, np.bool_)[None, :])
        self._one: OneState | None = None

    @property
    def playout_machine(self) -> PropnetMachine:
        """The machine that runs playouts: this one, or one with a guide for its network."""
        return self

    def _laid_out(self) -> tuple[Plan, KernelArgs]:
        """The network's layout and arguments for the kernels."""
        laid_out = plan(self.network)
        return laid_out, kernel_args(laid_out)

    def proposition(self, index: int) -> Term:
        return self.network.bases[index]

    def proposition_id(self, proposition: Term) -> int:
        index = self._base_ids.get(proposition)
        if index is None:
            raise StateError(
                f"{self.rules.spell(proposition)} can never be true in this game",
                remedy="only base propositions make a state",
            )
        return index

    def move(self, role: int, index: int) -> Term:
        return self.network.moves[role][index]

    def move_id(self, role: int, move: Term) -> int:
        index = self._move_ids[role].get(move)
        if index is None:
            raise MoveError(
                f"{self.rules.spell(move)} is never a move of {self.rules.spell(self.roles[role])}"
            )
        return index

    def initial_state(self) -> State:
        return State(self, self._initial.tobytes())

    def legal_moves(self, state: State, role: int) -> list[int]:
        return list(self.at(state.key).legal[role])

    def options(self, state: State) -> tuple[tuple[int, ...], ...]:
        one = self._one
        if one is None or state.key is not one.key:
            one = self.at(state.key)
        return one.legal

    def next_state(self, state: State, joint_move: Sequence[int]) -> State:
        return State(self, (self._one or self._wired()).play(state.key, joint_move))

    def percepts(self, state: State, joint_move: Sequence[int]) -> tuple[frozenset[Term], ...]:
        if not self.network.percepts:
            return super().percepts(state, joint_move)
        _, seen = self.perceive(self.records([state]), np.array([joint_move], np.int32))
        bits = unpack(seen, int(self.role_percepts[-1]))[0]
        return tuple(
            frozenset([percept for percept, bit in zip(own, bits[first:], strict=False) if bit])
            for own, first in zip(self.network.percepts, self.role_percepts.tolist(), strict=False)
        )

    def is_terminal(self, state: State) -> bool:
        one = self._one
        if one is None or state.key is not one.key:
            one = self.at(state.key)
        return one.terminal != 0

    def goal(self, state: State, role: int) -> int | None:
        return self.at(state.key).goal(role)

    def result(self, state: State, role: int) -> int | None:
        return self.at(state.key).result(role)

    def state_hash(self, key: Hashable) -> int:
        return self.at(key).hash()

    def at(self, key: Hashable) -> OneState:
        """The network settled on the state with this key, until the next call about another state."""
        one = self._one or self._wired()
        if key is not one.key and key != one.key:
            one.go(key)
        return one

    def _wired(self) -> OneState:
        self._one = OneState(self.network)
        return self._one

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_one": None}  # it holds addresses

    def true_propositions(self, key: Hashable) -> frozenset[Term]:
        bases = self.network.bases
        bits = unpack(self._record(key), len(bases))[0]
        return frozenset(bases[i] for i in np.flatnonzero(bits))

    def state_of(self, propositions: Iterable[Term]) -> State:
        bits = np.zeros((1, len(self.network.bases)), np.bool_)
        for proposition in propositions:
            bits[0, self.proposition_id(proposition)] = True
        return State(self, pack(bits).tobytes())

    def records(self, states: Sequence[State]) -> Words:
        """The records (n, words) of states of this machine."""
        joined = b"".join([cast(bytes, state.key) for state in states])
        return np.frombuffer(joined, np.uint64).reshape(len(states), self.words)

    def states(self, records: Words) -> list[State]:
        """The states with these records (n, words)."""
        return [State(self, record.tobytes()) for record in records]

    def _record(self, key: Hashable) -> Words:
        return np.frombuffer(cast(bytes, key), np.uint64).reshape(1, self.words)

    def evaluate(self, records: Words, single: bool = False) -> Evaluation:
        """Evaluate the states with these records: uint64, shape (n, words), any n. With ``single``
        a role has a goal only if exactly one value holds."""
        n = len(records)
        terminal = np.zeros(n, np.bool_)
        goals = np.full((n, len(self.roles)), -1, np.int16)
        legal = np.zeros((n, self.move_words), np.uint64)
        given_states.evaluate(
            self.kernel_args, self.scratch.wires, _rows(records), terminal, goals, legal, single
        )
        return Evaluation(terminal, goals, legal)

    def ends(self, records: Words) -> tuple[Flags, Goals]:
        """Whether each state is terminal, bool (n,), and its goals, int16 (n, roles), as in
        :class:`Evaluation`; -1 in states that are not terminal. It costs less than :meth:`evaluate`."""
        terminal = np.zeros(len(records), np.bool_)
        goals = np.full((len(records), len(self.roles)), -1, np.int16)
        given_states.ends(self.kernel_args, self.scratch.wires, _rows(records), terminal, goals)
        return terminal, goals

    def successors(self, records: Words, moves: Int32s) -> Words:
        """The records, uint64 (n, words), any n, after joint moves, int32 (n, roles): a move id per role.
        Raises MoveError for ids that no move has. The caller must make sure that moves are legal."""
        moves = self._checked(moves, len(records))
        after = np.zeros((len(records), self.words), np.uint64)
        self._make_moves(records, moves, after, _NO_STATES)
        return after

    def perceive(self, records: Words, moves: Int32s) -> tuple[Words, Words]:
        """The result of :meth:`successors`, and the percepts: uint64 (n, percept words). Bit p of a row is
        set if percept p is perceived. The percepts of all roles are numbered in role order (role r's begin at
        ``role_percepts[r]``). In games without ``sees`` no bit is set."""
        moves = self._checked(moves, len(records))
        after = np.zeros((len(records), self.words), np.uint64)
        seen = np.zeros((len(records), record_words(int(self.role_percepts[-1]))), np.uint64)
        self._make_moves(records, moves, after, seen)
        return after, seen

    def _make_moves(self, records: Words, moves: Int32s, after: Words, seen: Words) -> None:
        """Fill in the records after joint moves, and the percepts unless ``seen`` has no rows."""
        plan = self.plan
        given_states.successors(
            self.kernel_args, self.scratch.wires, _rows(records), moves,
            plan.percept_offsets, plan.percept_signs, after, seen,
        )  # fmt: skip

    def _checked(self, moves: Int32s, n: int) -> Int32s:
        """Joint moves as the kernels take them. Raises MoveError for ids that no move has."""
        counts = np.diff(self.role_moves)
        moves = np.require(moves, np.int32, ["C", "A", "W"]).reshape(n, len(self.roles))
        if ((moves < 0) | (moves >= counts)).any():
            raise MoveError("a move id is out of range", remedy="ids are places in network.moves[role]")
        return moves

    def _playouts(self, n: int, seed: int, start: State, max_steps: int) -> Playouts:
        return self._play(n, self._record(start.key), seed, max_steps)

    def playouts_from(
        self,
        records: Words,
        seed: int = 0,
        max_steps: int = 100_000,
        each: int = 1,
        *,
        policy: Policy = UNIFORM,
        tallies: Int32s | None = None,
        counted: int | None = None,
    ) -> Playouts:
        """Random playouts, ``each`` from every record: playout i starts from record ``i // each``.

        Args:
            records: uint64, shape (n, words); ``seed`` and ``max_steps`` are as in :meth:`playouts`.
            policy: chooses the moves.
            tallies: int32, shape (moves, 2), in C order, to which is added for each move: the number of
                playouts that made it at least once when its role had several, and the sum of that role's
                goals (0..100) in these. Playouts that leave a role without a goal value do not count for the
                role. Raises ValueError for another shape.
            counted: the number of playouts from each record that count, by default all; a smaller number
                takes time.
        """
        counted = each if counted is None else counted
        n = len(records) * each
        return self._play(n, records, seed, max_steps, policy=policy, tallies=tallies, counted=counted)

    def playouts_while(
        self, fewest: int, most: int, records: Words, made: Int32s, seed: int, max_steps: int
    ) -> tuple[Playouts, Int32s, Words]:
        """Random playouts, one from each of these records. They run as long as some playout waits for a lane,
        then as long as at least ``fewest`` lanes (1 to 512) are busy, but not beyond about ``most`` steps.
        ``made``, int32, shape (n,), holds the steps that each has already made; they count for
        ``max_steps``.

        Returns the playouts' results. Also for each lane the playout that has not ended in it, int32, shape
        (512,), -1 for none, and its state, uint64, shape (512, words). Unended playouts have goals of -1."""
        playout_in, states = np.full(LANES, -1, np.int32), np.zeros((LANES, self.words), np.uint64)
        goals, lengths = np.full((len(records), len(self.roles)), -1, np.int16), made.copy()
        cut = playouts(
            self.kernel_args, self.scratch, streams(seed), _rows(records), max_steps, goals, lengths,
            -1, _NO_TRACE, UNIFORM, _NO_TALLIES, 0, fewest, most, states, playout_in,
        )  # fmt: skip
        return Playouts(goals, lengths, int(cut)), playout_in, states

    def playout_moves(
        self,
        records: Words,
        row: int,
        length: int,
        seed: int = 0,
        max_steps: int = 100_000,
        each: int = 1,
        policy: Policy = UNIFORM,
    ) -> Int32s:
        """The moves of playout ``row``, int32, shape (length, roles). All other arguments must be those of a
        call of :meth:`playouts_from`, which returned its ``length``. All playouts run again."""
        trace = np.zeros((length, len(self.roles)), np.int32)
        self._play(len(records) * each, records, seed, max_steps, row, trace, policy)
        return trace

    def _play(
        self,
        n: int,
        starts: Words,
        seed: int,
        max_steps: int,
        watched: int = -1,
        trace: Int32s | None = None,
        policy: Policy = UNIFORM,
        tallies: Int32s | None = None,
        counted: int = 0,
    ) -> Playouts:
        goals = np.full((n, len(self.roles)), -1, np.int16)
        lengths = np.zeros(n, np.int32)
        trace = np.zeros((0, len(self.roles)), np.int32) if trace is None else trace
        pairs = _pairs(tallies, self.network.move_count)
        cut = playouts(
            self.kernel_args, self.scratch, streams(seed), _rows(starts), max_steps, goals, lengths,
            watched, trace, policy, pairs, counted, 0, 0, _NO_STATES, _NO_LANES,
        )  # fmt: skip
        return Playouts(goals, lengths, int(cut))


def _rows(records: Words) -> Words:
    """The records as the kind of array that the kernels are compiled for."""
    flags = records.flags
    if records.dtype == np.uint64 and flags.c_contiguous and flags.writeable and flags.aligned:
        return records
    return np.array(records, np.uint64, order="C")


def _pairs(tallies: Int32s | None, moves: int) -> Ints:
    """The tallies with each pair of numbers as one int64, the first as its lower half; empty for None."""
    if tallies is None:
        return _NO_TALLIES
    if tallies.shape != (moves, 2):
        raise ValueError(f"tallies of shape {tallies.shape} for {moves} moves")
    return tallies.view(np.int64)[:, 0]
