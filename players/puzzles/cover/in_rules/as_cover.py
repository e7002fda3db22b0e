"""The sets of moves that end a latch game with a goal value, where they are the covers of a problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.cover.in_rules.clocks import Flags
from players.puzzles.cover.in_rules.formula import Formula, StateCone
from players.puzzles.cover.in_rules.latch_game import LatchGame
from players.puzzles.cover.in_rules.move_sets import state_inputs
from players.puzzles.cover.problem import CoverProblem

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
