"""A game unrolled over the moves of a line: planning as satisfiability (H. Kautz and B. Selman, 1992)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from players.puzzles.cover.in_rules.clocks import Flags
from players.puzzles.cover.in_rules.formula import Clause, Formula, StateCone, reads_of
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE


@dataclass(frozen=True, slots=True)
class Unrolled:
    """The lines of some length that end with a goal value, as clauses.

    Attributes:
        moves: per step its moves and their variables (DIMACS numbers).
        clauses: the conditions; each model is a line, and each line a model.
    """

    moves: list[dict[int, int]]
    clauses: list[Clause]

    def line(self, model: frozenset[int]) -> list[int]:
        """The moves of a model."""
        return [next(m for m, x in step.items() if x in model) for step in self.moves]


def unrolled(
    network: Network, start: Flags, value: int, length: int, first: Flags
) -> Generator[None, None, Unrolled]:
    """Writes the conditions on lines from a state, bool (bases,), step by step.

    What is false or true at a step in all lines vanishes as the formula is built.

    Args:
        network: the game; it has no loops.
        start: the state.
        value: the goal value, 0..100.
        length: how many moves, no more than there is to use up.
        first: what :func:`~players.puzzles.cover.in_rules.consumption.used_up` says, without moves that are
            never legal from here on.

    Raises:
        FormulaSizeError: the clauses are too many.
    """
    formula = Formula()
    bases, legal = len(network.bases), network.legal_literals.tolist()
    next_literals = network.next_literals.tolist()
    state = {1 + base: TRUE if holds else FALSE for base, holds in enumerate(start.tolist())}
    steps: list[dict[int, int]] = []
    reads = reads_of(network)
    for _ in range(length):
        yield
        now = StateCone(formula, network, state, reads)
        formula.require(now.literal(network.terminal_literal) ^ 1)
        made: dict[int, int] = {}
        for move, literal in enumerate(legal):
            allowed = now.literal(literal)
            if allowed != FALSE:
                made[move] = formula.variable()
                formula.clause([made[move] ^ 1, allowed])
        formula.at_most(list(made.values()), 1, exactly=True)
        steps.append(made)
        moves = {1 + bases + move: made.get(move, FALSE) for move in range(len(legal))}
        after = StateCone(formula, network, state | moves, reads)
        state = {1 + base: after.literal(literal) for base, literal in enumerate(next_literals)}
    last = StateCone(formula, network, state)
    formula.require(last.literal(network.terminal_literal))
    formula.require(
        formula.any([last.literal(x) for _, worth, x in network.goals.tolist() if worth == value])
    )
    _require_counts(formula, steps, first)
    yield
    return Unrolled([{m: x >> 1 for m, x in step.items()} for step in steps], formula.clauses())


def _require_counts(formula: Formula, steps: list[dict[int, int]], first: Flags) -> None:
    """Each move uses something up. If that is as much as there is, all of it is used up some time."""
    there = np.flatnonzero(first.any(axis=0)).tolist()
    amounts = first.sum(axis=1)
    if len(steps) * int(amounts[amounts > 0].min(initial=len(there))) == len(there):
        for base in there:
            users = np.flatnonzero(first[:, base]).tolist()
            formula.clause([step[move] for step in steps for move in users if move in step])
