"""Which sets of moves end a latch game with a goal value: the conditions on the last state and on the one
before it, as clauses of one variable per move, or, where that can be, as a cover problem.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.recognition.formula import Clause, Formula, StateCone, reads_of
from players.puzzles.cover.recognition.latch_game import Flags, LatchGame
from propnet.passes.circuit import FALSE, TRUE

_SLICE = 20
"""Moves whose legality is written at once."""


@dataclass(frozen=True, slots=True)
class MoveSets:
    """The sets that meet the conditions.

    Attributes:
        moves: the moves that may be in one.
        chosen, last: per move of these its variable in the clauses, as DIMACS numbers: whether it is made,
            and whether it is made last.
        clauses: the conditions.
    """

    moves: list[int]
    chosen: list[int]
    last: list[int]
    clauses: list[Clause]

    def read(self, model: frozenset[int]) -> tuple[list[int], int]:
        """The moves of a model but the last one, and the last one. One that can be repeated may be both."""
        made = [m for m, x in zip(self.moves, self.chosen, strict=True) if x in model]
        last = next(m for m, x in zip(self.moves, self.last, strict=True) if x in model)
        return made, last

    def forbid(self, model: frozenset[int]) -> Clause:
        """The clause that this set of moves, with this last one, is not wanted."""
        return [-x if x in model else x for x in (*self.chosen, *self.last)]


def move_sets(
    game: LatchGame, value: int, length: int | None, *, sufficient: bool = False
) -> Generator[None, None, MoveSets]:
    """Writes the conditions on the sets of moves of lines that end with a goal value, a slice at a time.

    Every line that ends so gives one, unless ``sufficient``: then each move must also be legal when all
    others are made, which is more than lines need, but most often enough for one.

    Args:
        game: the game.
        value: the goal value, 1..100.
        length: how many moves the line has; None for any number after which the clocks are settled.
        sufficient: as above.

    Raises:
        FormulaSizeError: the clauses are too many.
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
            formula.require(earlier[m] ^ 1)  # nothing comes after it
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
        formula, network, state_inputs(formula, game, earlier, -1 if length is None else length - 1)
    )
    after_inputs = state_inputs(formula, game, chosen, -1 if length is None else length)
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
        reads, whole = reads_of(network), state_inputs(formula, game, earlier, 0)
        for number, m in enumerate(moves):
            if number % _SLICE == 0:
                yield
            _require_legal(formula, game, m, earlier, timed, whole, reads)
    yield
    clauses = formula.clauses()
    return MoveSets(moves, [chosen[m] >> 1 for m in moves], [last[m] >> 1 for m in moves], clauses)


def _equal(formula: Formula, x: int, y: int) -> int:
    return formula.all([formula.any([x ^ 1, y]), formula.any([x, y ^ 1])])


def state_inputs(formula: Formula, game: LatchGame, made: dict[int, int], steps: int) -> dict[int, int]:
    """Node of each base proposition -> its literal when these moves are made, and the clocks are those after
    some steps; endings are false."""
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
    """The move is legal when all others are made, or all that come before it where the clocks tell which;
    ``whole`` is the state when all are made."""
    if move in timed:
        step = timed[move]
        before = {m: x for m, x in earlier.items() if m != move and timed.get(m, -1) <= step}
        inputs = state_inputs(formula, game, before, step)
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
class MoveCover:
    """A cover problem, and the move of each of its options."""

    problem: CoverProblem
    moves: list[int]

    def line(self, game: LatchGame, options: list[int]) -> list[int]:
        """The moves of a solution, those that the clocks allow late at the end."""
        first = game.clocks.times.argmax(axis=0)
        return sorted((self.moves[option] for option in options), key=lambda m: int(first[m]))


def move_cover(game: LatchGame, value: int, length: int | None) -> MoveCover | None:
    """The cover problem of lines with this goal value, and so many moves; None where conditions are others.

    Each line's moves are a solution. An item stands for moves of which one at least must be made, of which
    one at most can be made, or for the number of all.
    """
    formula, network = Formula(), game.network
    once = np.diagonal(game.blocks)
    moves = np.flatnonzero(~game.dead).tolist()
    if length is not None and not once[moves].all():
        return None
    chosen = {m: formula.variable() for m in moves}
    inputs = state_inputs(formula, game, chosen, -1 if length is None else length)
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


def _problem(apart: Flags, moves: list[int], needed: list[set[int]], length: int | None) -> MoveCover:
    """The items: sets of which one is needed, cliques of moves apart, all moves where they are counted."""
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
    return MoveCover(problem, moves)
