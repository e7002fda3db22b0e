"""Games whose states are sets of moves: a SAT solver finds the set of moves, then the moves are put in order.

The sets of moves that end a latch game with a goal value are given by conditions on the last state and on the
one before it: a circuit with structural hashing, which becomes clauses (G. S. Tseitin, 1968) with variables
for each move. A CDCL solver of the package python-sat searches them.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from gdl.errors import GdlError
from gdl.machine import State
from players.companions import Stepwise
from players.puzzles.cover.recognition.latch_game import (
    LatchGame,
    effects,
    latch_game,
    latch_game_of,
    possible_ends,
)
from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.analysis.ternary import Ternary
from propnet.jit.arrays import Words
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, CircuitBuilder

_Clause = list[int]
"""Literals as in DIMACS: variable v >= 1, or -v."""

_VARIABLES = 1 << 30
"""Nodes below this one are variables, those above are gates."""


_LIMIT = 4_000_000
"""The most gates, and the most clauses, of a formula."""


class _FormulaSizeError(GdlError):
    """A formula has more gates or clauses than allowed."""


class _Formula:
    """Variables, gates above them, and conditions that must hold.

    A *literal* is as in a network: 2 * node + negated; 0 is true and 1 is false. Variables are nodes 1, 2,
    and so on. Raises :class:`_FormulaSizeError` if it would have more than :data:`_LIMIT` gates or clauses.

    >>> formula = _Formula()
    >>> a, b = formula.variable(), formula.variable()
    >>> formula.require(formula.any([a, b]))
    >>> formula.require(formula.all([a, b]) ^ 1)
    >>> formula.clauses()
    [[1, 2], [-1, -2]]
    """

    def __init__(self) -> None:
        self.variables = 0
        self.contradiction = False
        self._builder = CircuitBuilder(_VARIABLES)
        self._required: dict[int, None] = {}

    def variable(self) -> int:
        """Return a literal of a new variable."""
        self.variables += 1
        return 2 * self.variables

    def all(self, literals: Iterable[int]) -> int:
        """Return a literal for the AND of literals."""
        return self._builder.conjunction(literals)

    def any(self, literals: Iterable[int]) -> int:
        """Return a literal for the OR of literals."""
        return self._builder.conjunction([x ^ 1 for x in literals]) ^ 1

    def require(self, literal: int) -> None:
        """Add a condition that must hold."""
        waiting = [literal]
        while waiting:
            x = waiting.pop()
            if x == TRUE or x in self._required:
                continue
            if x == FALSE or x ^ 1 in self._required:
                self.contradiction = True
                return
            if x >> 1 >= _VARIABLES and not x & 1:
                waiting += reversed(self._builder.gates[(x >> 1) - _VARIABLES])
            else:
                self._required[x] = None

    def clause(self, literals: Iterable[int]) -> None:
        """Require at least one of these literals."""
        self.require(self.any(literals))

    def at_most(self, literals: Sequence[int], most: int, *, exactly: bool = False) -> None:
        """Require at most ``most`` of these literals, or exactly ``most``, by the sequential counter of C.
        Sinz, Towards an optimal CNF encoding of Boolean cardinality constraints (2005)."""
        if most >= len(literals):
            if exactly:
                for x in literals:
                    self.require(x if most == len(literals) else FALSE)
            return
        counted: list[int] = [TRUE] + [FALSE] * (most + 1)  # at least 0, 1, ... of the literals already added
        for place, x in enumerate(literals):
            left = len(literals) - place - 1
            low = max(1, most - left) if exactly else 1
            following = counted.copy()
            for count in range(low, min(most + 1, place + 1) + 1):
                following[count] = self.any([counted[count], self.all([x, counted[count - 1]])])
            counted = following
            self._bounded()
        self.require(counted[most + 1] ^ 1)
        if exactly:
            self.require(counted[most])

    def clauses(self) -> list[_Clause]:
        """Return the conditions as clauses of variables. Variables past :attr:`variables` stand for gates. A
        gate that only has to be true implies its inputs, but not the other way round (D. A. Plaisted and S.
        Greenbaum, 1986)."""
        if self.contradiction:
            return [[]]
        gates = self._builder.gates
        number: dict[int, int] = {}
        seen: set[int] = set()
        order: list[int] = []

        def numbered(literal: int) -> int:
            node = literal >> 1
            if node >= _VARIABLES:
                if literal not in seen:
                    seen.add(literal)
                    order.append(literal)
                node = number.setdefault(node, self.variables + len(number) + 1)
            return -node if literal & 1 else node

        clauses = []
        for x in self._required:
            if x >> 1 < _VARIABLES:
                clauses.append([numbered(x)])
            else:  # the negation of an AND
                clauses.append([numbered(y ^ 1) for y in gates[(x >> 1) - _VARIABLES]])
        for x in order:  # it grows meanwhile
            gate, inputs = number[x >> 1], gates[(x >> 1) - _VARIABLES]
            if x & 1:
                clauses.append([gate, *(numbered(y ^ 1) for y in inputs)])
            else:
                clauses.extend([-gate, numbered(y)] for y in inputs)
        if len(clauses) > _LIMIT:
            raise _FormulaSizeError("the formula of this game grows too large")
        return clauses

    def _bounded(self) -> None:
        if len(self._builder.gates) > _LIMIT:
            raise _FormulaSizeError("the formula of this game grows too large")


class _StateCone:
    """The values of one state of a network, as literals of a formula.

    Args:
        formula: the formula.
        network: the network; gates in loops of positive recursion have no literals here.
        inputs: the literal of each base proposition, and of each move if the requested gates depend on moves.
        reads: the result of :func:`_reads_of`, to share it among many states of one network.
    """

    def __init__(
        self,
        formula: _Formula,
        network: Network,
        inputs: Mapping[int, int],
        reads: list[list[int]] | None = None,
    ) -> None:
        self._formula = formula
        self._reads = _reads_of(network) if reads is None else reads
        self._first = network.first_gate
        self._known: dict[int, int] = {0: TRUE, **inputs}

    def literal(self, literal: int) -> int:
        """Return the formula's literal for a literal of the network."""
        literals, reads, first = self._known, self._reads, self._first
        waiting = [literal >> 1]
        while waiting:
            node = waiting[-1]
            if node in literals:
                waiting.pop()
                continue
            read = reads[node - first]
            missing = [x >> 1 for x in read if x >> 1 not in literals]
            if missing:
                waiting += missing
                continue
            literals[node] = self._formula.all([literals[x >> 1] ^ (x & 1) for x in read])
            waiting.pop()
        return literals[literal >> 1] ^ (literal & 1)


def _reads_of(network: Network) -> list[list[int]]:
    """Return the literals that each gate reads."""
    starts, inputs = network.gate_start.tolist(), network.gate_inputs.tolist()
    return [inputs[low:high] for low, high in pairwise(starts)]


_FIRST_BUDGET = 50
_LARGEST_BUDGET = 200_000


class _SatSearch(Stepwise):
    """Looks for an assignment that satisfies clauses, in slices of time.

    It keeps learnt clauses between slices. Close it when done.

    Attributes:
        answer: whether there is one; None while unknown.
        model: the variables that are true in it.
    """

    def __init__(self, clauses: Iterable[Sequence[int]]) -> None:
        from pysat.solvers import Solver  # takes a tenth of a second

        self.answer: bool | None = None
        self.model: frozenset[int] = frozenset()
        self._solver: Any = Solver(name="glucose42")
        self._budget = _FIRST_BUDGET
        for clause in clauses:
            if not clause:
                self.answer = False
            self._solver.add_clause(clause)

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause. The answer becomes unknown again, unless it was no."""
        self._solver.add_clause(clause)
        if self.answer:
            self.answer = None

    def step(self, deadline: float) -> bool:
        """Search until about the deadline (time.monotonic() seconds). Returns whether there is an answer."""
        while self.answer is None and (now := time.monotonic()) < deadline:
            self._solver.conf_budget(self._budget)
            self.answer = self._solver.solve_limited()
            if self.answer:
                self.model = frozenset(x for x in self._solver.get_model() if x > 0)
            taken = max(1e-6, time.monotonic() - now)
            # As many conflicts as fit into the time left, by the last budget; the number grows slowly.
            fit = self._budget * (deadline - time.monotonic()) / taken
            self._budget = max(_FIRST_BUDGET, min(_LARGEST_BUDGET, 2 * self._budget, int(fit)))
        return self.answer is not None

    def close(self) -> None:
        """Free its memory."""
        self._solver.delete()


_LOOK_EVERY = 20
"""Moves whose legality is encoded at a time."""


@dataclass(frozen=True, slots=True)
class _MoveSets:
    """The sets of moves that meet the conditions.

    Attributes:
        moves: the moves that a set may contain.
        chosen, last: for each of these moves its variables in the clauses, as DIMACS numbers: whether it is
            made, and whether it is made last.
        clauses: the conditions.
    """

    moves: list[int]
    chosen: list[int]
    last: list[int]
    clauses: list[_Clause]

    def read(self, model: frozenset[int]) -> tuple[list[int], int]:
        """Return the moves of a model except the last one, and the last one. A move that can be repeated may
        be in both."""
        others = [m for m, x in zip(self.moves, self.chosen, strict=True) if x in model]
        last = next(m for m, x in zip(self.moves, self.last, strict=True) if x in model)
        return others, last

    def forbid(self, model: frozenset[int]) -> _Clause:
        """Return the clause that excludes this set of moves with this last move."""
        return [-x if x in model else x for x in (*self.chosen, *self.last)]


def _move_sets(
    game: LatchGame, value: int, length: int | None, *, sufficient: bool = False
) -> Generator[None, None, _MoveSets]:
    """Return the conditions on the sets of moves of lines that end with a goal value, encoded a slice at a
    time.

    Every such line gives a set that meets them. With ``sufficient``, each move must also be legal when all
    others are made. This is more than lines need, but such a set can usually be put in order.

    Args:
        game: the game.
        value: the goal value, 1..100.
        length: the number of moves of the line; None for any number after which the clocks are settled.
        sufficient: see above.

    Raises:
        _FormulaSizeError: there are too many clauses.
    """
    formula, network = _Formula(), game.network
    moves = np.flatnonzero(~game.dead).tolist()
    once = np.diagonal(game.blocks)
    chosen = {m: formula.variable() for m in moves}
    last = {m: formula.variable() for m in moves}
    earlier: dict[int, int] = {}
    for m in moves:
        if once[m]:
            formula.clause([last[m] ^ 1, chosen[m]])
            earlier[m] = formula.all([chosen[m], last[m] ^ 1])
        else:
            earlier[m] = formula.variable()
            formula.require(_equal(formula, chosen[m], formula.any([earlier[m], last[m]])))
        if game.blocks[m, moves].all():
            formula.require(earlier[m] ^ 1)  # it can only be the last move
    formula.at_most([last[m] for m in moves], 1, exactly=True)
    yield
    for m, k in np.argwhere(np.triu(game.conflicts, 1)).tolist():
        if m in chosen and k in chosen:
            formula.clause([chosen[m] ^ 1, chosen[k] ^ 1])
    yield
    if length is not None:
        formula.at_most([chosen[m] for m in moves], length, exactly=all(once[m] for m in moves))
        for time in range(length):
            formula.clause([chosen[m] for m in moves if game.clocks.times[time, m]])
        for m in moves:
            if not game.clocks.times[length - 1, m]:
                formula.require(last[m] ^ 1)
            if not game.clocks.times[:length, m].any():
                formula.require(chosen[m] ^ 1)
    yield
    before = _StateCone(
        formula, network, _state_inputs(formula, game, earlier, -1 if length is None else length - 1)
    )
    after_inputs = _state_inputs(formula, game, chosen, -1 if length is None else length)
    for base in np.flatnonzero(game.endings).tolist():
        after_inputs[1 + base] = formula.any([last[m] for m in moves if game.adds[m, base]])
    after = _StateCone(formula, network, after_inputs)
    formula.require(before.literal(network.terminal_literal) ^ 1)
    formula.require(after.literal(network.terminal_literal))
    goals = network.goals.tolist()
    formula.require(formula.any([after.literal(x) for _, worth, x in goals if worth == value]))
    legal = network.legal_literals.tolist()
    for m in moves:
        formula.clause([last[m] ^ 1, before.literal(legal[m])])
    timed = {m: int(game.clocks.times[:, m].argmax()) for m in moves if game.clocks.times[:, m].sum() == 1}
    exact = length is not None and len(timed) == len(moves)
    if exact or sufficient:
        reads, whole = _reads_of(network), _state_inputs(formula, game, earlier, 0)
        for number, m in enumerate(moves):
            if number % _LOOK_EVERY == 0:
                yield
            _require_legal(formula, game, m, earlier, timed, whole, reads)
    yield
    clauses = formula.clauses()
    return _MoveSets(moves, [chosen[m] >> 1 for m in moves], [last[m] >> 1 for m in moves], clauses)


def _equal(formula: _Formula, x: int, y: int) -> int:
    return formula.all([formula.any([x ^ 1, y]), formula.any([x, y ^ 1])])


def _state_inputs(formula: _Formula, game: LatchGame, made: dict[int, int], steps: int) -> dict[int, int]:
    """Return node of each base proposition -> its literal after these moves, with the clocks after some
    steps; endings are false."""
    inputs: dict[int, int] = {}
    clock = dict.fromkeys(game.clocks.bases.tolist())
    for base, value in enumerate(game.start.tolist()):
        if base in clock:
            continue
        if game.endings[base]:
            inputs[1 + base] = FALSE
            continue
        changing = (game.deletes if value else game.adds)[:, base]
        changed = formula.any([made[m] for m in np.flatnonzero(changing).tolist() if m in made])
        inputs[1 + base] = changed ^ value
    for place, base in enumerate(clock):
        inputs[1 + base] = TRUE if game.clocks.values[steps, place] else FALSE
    return inputs


def _require_legal(
    formula: _Formula,
    game: LatchGame,
    move: int,
    earlier: dict[int, int],
    timed: dict[int, int],
    whole: dict[int, int],
    reads: list[list[int]],
) -> None:
    """Require that the move is legal when all others are made, or all that come before it if the clocks
    determine which. ``whole`` is the state when all are made."""
    if move in timed:
        step = timed[move]
        before = {m: x for m, x in earlier.items() if m != move and timed.get(m, -1) <= step}
        inputs = _state_inputs(formula, game, before, step)
    else:
        inputs = whole.copy()
        effect = np.where(game.start, game.deletes[move], game.adds[move]) & ~game.endings
        for base in np.flatnonzero(effect).tolist():
            changing = (game.deletes if game.start[base] else game.adds)[:, base]
            others = [earlier[m] for m in np.flatnonzero(changing).tolist() if m in earlier and m != move]
            inputs[1 + base] = formula.any(others) ^ int(game.start[base])
    state = _StateCone(formula, game.network, inputs, reads)
    formula.clause([earlier[move] ^ 1, state.literal(int(game.network.legal_literals[move]))])


_NODES = 3_000
"""States that the search may examine."""


def _ordered(
    machine: PropnetMachine, game: LatchGame, start: State, moves: list[int], last: int, length: int | None
) -> tuple[int, list[int]] | None:
    """Return a legal line of a set of moves.

    Args:
        machine: the game's machine.
        game: the facts proven about it.
        start: the first state of the line.
        moves: the moves of the line; each occurs at least once.
        last: its last move.
        length: the number of moves of the line; if it is larger than the set, some moves are repeated. None
            for no repetitions.

    Returns:
        The goal value of the terminal state at its end, and the line; None if none is found.
    """
    earlier = [m for m in moves if m != last]
    # Moves that others block come first.
    counts = game.blocks[np.ix_(earlier, earlier)].sum(axis=0)
    earlier = [earlier[i] for i in np.argsort(-counts, kind="stable").tolist()]
    again = [m for m in moves if not game.blocks[m, m]]
    target = len(earlier) if length is None else length - 1
    if target < len(earlier):
        return None
    line: list[int] = []
    path = [_choices(machine, machine.records([start]), line, earlier, again, target)]
    records = [machine.records([start])]
    for _ in range(_NODES):
        move = next(path[-1], None)
        if move is not None:
            after = machine.successors(records[-1], np.array([[move]], np.int32))
            if machine.ends(after)[0][0]:
                continue
            line.append(move)
            records.append(after)
            path.append(_choices(machine, after, line, earlier, again, target))
            if len(line) < target:
                continue
        if len(line) == target and last in _legal(machine, records[-1]):
            after = machine.successors(records[-1], np.array([[last]], np.int32))
            terminal, goals = machine.ends(after)
            if terminal[0]:
                return int(goals[0, 0]), [*line, last]
        path.pop()
        records.pop()
        if not path:
            return None
        line.pop()
    return None


def _choices(
    machine: PropnetMachine, record: Words, line: list[int], earlier: list[int], again: list[int], target: int
) -> Iterator[int]:
    """Return the moves to try in a state: first those that are not made yet, then those that may be
    repeated."""
    if len(line) >= target:
        return iter(())
    played = set(line)
    missing = [m for m in earlier if m not in played]
    legal = _legal(machine, record)
    spare = target - len(line) > len(missing)
    return iter([m for m in missing if m in legal] + [m for m in again if spare and m in legal])


def _legal(machine: PropnetMachine, record: Words) -> set[int]:
    """Return the legal moves of a state."""
    bits = unpack(machine.evaluate(record).legal, machine.network.move_count)
    return set(np.flatnonzero(bits[0]).tolist())


_SLICE = 0.02
"""Seconds of the SAT solver per slice."""
_TRIES = 20
"""Sets of moves that are tried for one goal value before the conditions become stricter."""

_PLAYOUTS, _LONGEST = 64, 10_000
"""Playouts that look for any line that ends, and the most moves of a playout."""


class _Outcome(Enum):
    """The outcome for one goal value and one length."""

    FOUND = "found"
    REFUTED = "refuted"
    OPEN = "open"


class MoveSetSolver(LineSolver):
    """Goes through the goal values from the highest down, and looks for a set of moves that ends with each.

    If there is no such set, no line has that value. :attr:`proven` is the value of the first line found when
    all values above it are refuted. Sets that cannot be put in order refute nothing.
    """

    name: ClassVar[str] = "move-sets"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._work = self._solve()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        return Promise(Certainty.FINDS, alike=True) if latch_game_of(machine.network) else None

    def step(self, deadline: float) -> bool:
        return all(time.monotonic() < deadline for _ in self._work)

    def _solve(self) -> Iterator[None]:
        network = self.machine.network
        found = effects(network)
        if found is None:
            return
        start = unpack(self.machine.records([self.start]), len(network.bases))[0].astype(np.bool_)
        yield
        ternary = Ternary(network)
        game = latch_game(ternary, start, found)
        if game is None:
            return
        yield
        refuted = game.clocks.complete
        candidates = possible_ends(ternary, game.clocks)
        for value in sorted({value for value, _ in candidates if value}, reverse=True):
            for length in [length for worth, length in candidates if worth == value]:
                try:
                    outcome = yield from self._look_for(game, value, length)
                except _FormulaSizeError:
                    outcome = _Outcome.OPEN
                if outcome is _Outcome.FOUND:
                    if refuted:
                        self.proven = value
                    return
                refuted = refuted and outcome is _Outcome.REFUTED
        if refuted:
            self._any_line()

    def _any_line(self) -> None:
        """Nothing above 0 can be reached: report any line that ends."""
        record = self.machine.records([self.start])
        played = self.machine.playouts_from(record, max_steps=_LONGEST, each=_PLAYOUTS)
        whole = (played.goals[:, 0] == 0) & (played.lengths < _LONGEST)
        if whole.any():
            row = int(whole.argmax())
            length = int(played.lengths[row])
            moves = self.machine.playout_moves(record, row, length, max_steps=_LONGEST, each=_PLAYOUTS)
            self.report(0, moves[:, 0].tolist())
            self.proven = 0

    def _look_for(self, game: LatchGame, value: int, length: int | None) -> Generator[None, None, _Outcome]:
        """Look for a line with this goal value and length."""
        for sufficient in (False, True):
            sets = yield from _move_sets(game, value, length, sufficient=sufficient)
            yield
            search = _SatSearch(sets.clauses)
            try:
                outcome = yield from self._try_sets(game, sets, search, value, length)
            finally:
                search.close()
            if outcome is not _Outcome.OPEN:
                return outcome if not sufficient or outcome is _Outcome.FOUND else _Outcome.OPEN
        return _Outcome.OPEN

    def _found(self, game: LatchGame, made: list[int], value: int, length: int | None) -> bool:
        """Put a set of moves in order, keeping its last one last, and report the line if that works."""

        self.states += 1
        line = _ordered(self.machine, game, self.start, made, made[-1], length) if made else None
        if line is None or line[0] < value:
            return False
        self.report(*line)
        return True

    def _try_sets(
        self, game: LatchGame, sets: _MoveSets, search: _SatSearch, value: int, length: int | None
    ) -> Generator[None, None, _Outcome]:
        """Put the sets that the search finds in order; refuted if it finds none."""
        for tries in range(_TRIES):
            while not search.step(time.monotonic() + _SLICE):
                yield
            if search.answer is False:
                return _Outcome.OPEN if tries else _Outcome.REFUTED
            others, last = sets.read(search.model)
            if self._found(game, [*(m for m in others if m != last), last], value, length):
                return _Outcome.FOUND
            search.add(sets.forbid(search.model))
            yield
        return _Outcome.OPEN
