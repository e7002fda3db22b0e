"""Games whose states are sets of moves: a SAT solver finds the set of moves, then the moves are put in order.

The sets of moves that end a latch game with a goal value are given by conditions on the last state and on the
one before it. These are clauses with one variable per move or, if possible, a cover problem.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np

from gdl.machine import State
from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.recognition.formula import (
    Clause,
    Formula,
    FormulaSizeError,
    SatSearch,
    StateCone,
    available,
    reads_of,
)
from players.puzzles.cover.recognition.latch_game import (
    Flags,
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
from propnet.passes.circuit import FALSE, TRUE

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
    clauses: list[Clause]

    def read(self, model: frozenset[int]) -> tuple[list[int], int]:
        """Return the moves of a model except the last one, and the last one. A move that can be repeated may
        be in both."""
        others = [m for m, x in zip(self.moves, self.chosen, strict=True) if x in model]
        last = next(m for m, x in zip(self.moves, self.last, strict=True) if x in model)
        return others, last

    def forbid(self, model: frozenset[int]) -> Clause:
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
        FormulaSizeError: there are too many clauses.
    """
    formula, network = Formula(), game.network
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
    before = StateCone(
        formula, network, _state_inputs(formula, game, earlier, -1 if length is None else length - 1)
    )
    after_inputs = _state_inputs(formula, game, chosen, -1 if length is None else length)
    for base in np.flatnonzero(game.endings).tolist():
        after_inputs[1 + base] = formula.any([last[m] for m in moves if game.adds[m, base]])
    after = StateCone(formula, network, after_inputs)
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
        reads, whole = reads_of(network), _state_inputs(formula, game, earlier, 0)
        for number, m in enumerate(moves):
            if number % _LOOK_EVERY == 0:
                yield
            _require_legal(formula, game, m, earlier, timed, whole, reads)
    yield
    clauses = formula.clauses()
    return _MoveSets(moves, [chosen[m] >> 1 for m in moves], [last[m] >> 1 for m in moves], clauses)


def _equal(formula: Formula, x: int, y: int) -> int:
    return formula.all([formula.any([x ^ 1, y]), formula.any([x, y ^ 1])])


def _state_inputs(formula: Formula, game: LatchGame, made: dict[int, int], steps: int) -> dict[int, int]:
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
    formula: Formula,
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
    state = StateCone(formula, game.network, inputs, reads)
    formula.clause([earlier[move] ^ 1, state.literal(int(game.network.legal_literals[move]))])


_MOST_CLAUSES = 20_000


@dataclass(frozen=True, slots=True)
class _MoveCover:
    """A cover problem, and the move of each of its options."""

    problem: CoverProblem
    moves: list[int]

    def line(self, game: LatchGame, options: list[int]) -> list[int]:
        """Return the moves of a solution, ordered by the first time at which the clocks allow them."""
        first = game.clocks.times.argmax(axis=0)
        return sorted((self.moves[option] for option in options), key=lambda m: int(first[m]))


def _move_cover(game: LatchGame, value: int, length: int | None) -> _MoveCover | None:
    """Return the cover problem of lines with this goal value and length; None if the conditions have another
    form.

    The moves of each line are a solution. An item stands for a set of moves of which at least one must be
    made, for a set of which at most one can be made, or for the number of all moves.
    """
    formula, network = Formula(), game.network
    once = np.diagonal(game.blocks)
    moves = np.flatnonzero(~game.dead).tolist()
    if length is not None and not once[moves].all():
        return None
    chosen = {m: formula.variable() for m in moves}
    inputs = _state_inputs(formula, game, chosen, -1 if length is None else length)
    for base in np.flatnonzero(game.endings).tolist():
        inputs[1 + base] = formula.any([chosen[m] for m in moves if game.adds[m, base]])
    after = StateCone(formula, network, inputs)
    formula.require(after.literal(network.terminal_literal))
    goals = [literal for _, worth, literal in network.goals.tolist() if worth == value]
    formula.require(formula.any([after.literal(literal) for literal in goals]))
    clauses = formula.expanded(_MOST_CLAUSES)
    if clauses is None:
        return None
    apart = game.conflicts.copy()
    banned: set[int] = set()
    needed: list[set[int]] = []
    for clause in sorted(clauses, key=len):
        places = [moves[(x >> 1) - 1] for x in clause]
        if all(not x & 1 for x in clause):
            if not any(one <= set(places) for one in needed):
                needed.append(set(places))
        elif any(not x & 1 for x in clause) or len(clause) > 2:
            return None
        elif len(clause) == 1:
            banned |= set(places)
        else:
            apart[places[0], places[1]] = apart[places[1], places[0]] = True
    if length is not None:
        needed += [{m for m in moves if game.clocks.times[time, m]} for time in range(length)]
    return _problem(apart, [m for m in moves if m not in banned], needed, length)


def _problem(apart: Flags, moves: list[int], needed: list[set[int]], length: int | None) -> _MoveCover:
    """Build the items: sets of which one move is needed, cliques of moves that exclude each other, and all
    moves if their number is given."""
    items: list[tuple[set[int], int, int]] = []
    banned = np.ones(len(apart), np.bool_)
    banned[moves] = False
    open_ = np.triu(apart, 1)
    open_[banned] = open_[:, banned] = False
    np.fill_diagonal(apart, True)
    for one in needed:
        members = sorted(one & set(moves))
        clique = bool(apart[np.ix_(members, members)].all())
        items.append((set(members), 1, 1 if clique else max(1, len(members))))
        if clique:
            open_[np.ix_(members, members)] = False
    for m in moves:
        while len(left := np.flatnonzero(open_[m]).tolist()):
            clique_moves = [m]
            for k in left:
                if apart[np.ix_([k], clique_moves)].all():
                    clique_moves.append(k)
            open_[np.ix_(clique_moves, clique_moves)] = False
            items.append((set(clique_moves), 0, 1))
    if length is not None:
        items.append((set(moves), length, length))
    options = [[i for i, (members, _, _) in enumerate(items) if m in members] for m in moves]
    nodes = [item for option in options for item in option]
    problem = CoverProblem(
        np.array([low for _, low, _ in items], np.int32),
        np.array([high for _, _, high in items], np.int32),
        np.cumsum([0, *map(len, options)]).astype(np.int32),
        np.array(nodes, np.int32),
        np.ones(len(nodes), np.int32),
        np.zeros(len(nodes), np.int32),
        np.zeros(len(items), np.bool_),
    )
    return _MoveCover(problem, moves)


_NODES = 3_000
"""States that the search may examine."""


def ordered(
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

_MOST_COVERS = 20
"""The most lengths of lines for which cover problems are built when a game is recognised."""
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
        game = latch_game_of(machine.network)
        if game is None or not (available() or _covers(game)):
            return None
        return Promise(Certainty.FINDS, alike=True)

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
                except FormulaSizeError:
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

        if not available():
            return (yield from self._look_for_cover(game, value, length))
        for sufficient in (False, True):
            sets = yield from _move_sets(game, value, length, sufficient=sufficient)
            yield
            search = SatSearch(sets.clauses)
            try:
                outcome = yield from self._try_sets(game, sets, search, value, length)
            finally:
                search.close()
            if outcome is not _Outcome.OPEN:
                return outcome if not sufficient or outcome is _Outcome.FOUND else _Outcome.OPEN
        return _Outcome.OPEN

    def _look_for_cover(
        self, game: LatchGame, value: int, length: int | None
    ) -> Generator[None, None, _Outcome]:
        """Look for the line without a SAT solver, if the conditions are a cover problem."""
        from players.puzzles.cover.outcome import CoverOptions
        from players.puzzles.cover.search import CoverSearch

        cover = _move_cover(game, value, length)
        if cover is None:
            return _Outcome.OPEN
        search = CoverSearch(cover.problem, CoverOptions(first=_TRIES))
        goes_on, some = True, False
        while goes_on:
            goes_on = search.step(time.monotonic() + _SLICE)
            for options in search.taken():
                some = True
                if self._found(game, cover.line(game, options.tolist()), value, length):
                    return _Outcome.FOUND
            yield
        return _Outcome.OPEN if some else _Outcome.REFUTED

    def _found(self, game: LatchGame, made: list[int], value: int, length: int | None) -> bool:
        """Put a set of moves in order, keeping its last one last, and report the line if that works."""

        self.states += 1
        line = ordered(self.machine, game, self.start, made, made[-1], length) if made else None
        if line is None or line[0] < value:
            return False
        self.report(*line)
        return True

    def _try_sets(
        self, game: LatchGame, sets: _MoveSets, search: SatSearch, value: int, length: int | None
    ) -> Generator[None, None, _Outcome]:
        """Put the sets that the search finds in order; refuted if it finds none."""
        for tries in range(_TRIES):
            while search.step(time.monotonic() + _SLICE):
                yield
            if search.answer is False:
                return _Outcome.OPEN if tries else _Outcome.REFUTED
            others, last = sets.read(search.model)
            if self._found(game, [*(m for m in others if m != last), last], value, length):
                return _Outcome.FOUND
            search.add(sets.forbid(search.model))
            yield
        return _Outcome.OPEN


def _covers(game: LatchGame) -> bool:
    """Whether the highest goal value requires a cover, for every possible length of the line."""

    ends = possible_ends(Ternary(game.network), game.clocks)
    highest = [end for end in ends if end[0] == ends[0][0]]
    return 0 < len(highest) <= _MOST_COVERS and all(_move_cover(game, *end) for end in highest)
