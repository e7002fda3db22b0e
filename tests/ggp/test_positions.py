"""The positions that searches are measured by (bench/positions.jsonl) are what they are said to be."""

from __future__ import annotations

from collections import defaultdict

import pytest

from bench.positions import BY_SEARCH, LONGEST, ProvenPosition, load, load_game
from bench.solver import Claim, OutOfNodesError, Solver, mover_of
from ggp.game import Game

POSITIONS = load()
QUICK = 220
"""Positions whose proof looked at no more states than that are proven anew here; `python -m bench.positions
--verify` proves them all."""


def test_wins_of_all_depths_in_at_least_eight_games() -> None:
    depths = defaultdict(set)
    for position in POSITIONS:
        if position.value == 100 and 1 <= position.plies <= 7:
            depths[position.plies].add(position.game)
    assert {1, 3, 5, 7} <= set(depths)
    assert len(set.union(*depths.values())) >= 8
    assert {"tictactoe", "connectfour", "nim", "chomp", "smallbreakthrough"} <= {p.game for p in POSITIONS}
    assert len({(p.game, p.role, p.true) for p in POSITIONS}) == len(POSITIONS)


@pytest.mark.parametrize("game", sorted({position.game for position in POSITIONS}))
def test_the_best_moves_are_legal_and_others_too(game: str) -> None:
    machine = load_game(game).machine("prover")
    spell = machine.rules.spell
    for position in (p for p in POSITIONS if p.game == game):
        state, role = position.on(machine)
        assert not machine.is_terminal(state)
        assert mover_of(machine, state) == role
        moves = {spell(machine.move(role, move)) for move in machine.legal_moves(state, role)}
        assert position.best
        assert set(position.best) < moves


@pytest.mark.parametrize(
    "position",
    [p for p in POSITIONS if p.proof == BY_SEARCH and p.nodes <= QUICK],
    ids=lambda position: f"{position.game}-{position.plies}-{position.nodes}",
)
def test_the_best_moves_are_proven_by_exhaustive_search(position: ProvenPosition) -> None:
    machine = load_game(position.game).machine("prover")
    state, role = position.on(machine)
    found = Solver(machine, 20 * QUICK).solve(state, role, LONGEST, count=position.plies > 0)
    assert (found.value, found.best, found.plies) == (position.value, position.best, position.plies)


def test_the_solver_knows_when_it_does_not_know() -> None:
    machine = Game.load("tictactoe").machine("prover")
    solver = Solver(machine, 300)
    assert solver.decide(machine.initial_state(), 0, 100, 2) == (Claim.OPEN, 2)
    with pytest.raises(OutOfNodesError):
        solver.solve(machine.initial_state(), 0)
    both = Game.load("rockpaperscissors").machine("prover")
    with pytest.raises(ValueError, match="both"):
        mover_of(both, both.initial_state())
