"""Looks for positions that have a proven best move, and writes them to bench/positions.jsonl.

    python -m bench.find_positions connectfour breakthrough --each 2 >> bench/positions.jsonl

Positions come from random matches. One is kept if the role to move can force a win within 7
joint moves, if every other move is proven to miss it (bench/solver.py), and if at most half of the
moves are right. ``--after MOVES`` solves the position after these moves of the roles in turn instead, to the
end and without counting moves:

    python -m bench.find_positions tictactoe --after "(mark a 1)"
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator

import orjson

from bench.positions import LONGEST, load_game
from bench.solver import Claim, OutOfNodesError, Solution, Solver, mover_of
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_terms

DEPTHS = range(1, 8)
MATCHES = 2000


def line(game: str, machine: Machine, state: State, role: int, solution: Solution) -> bytes:
    """A position as a line of the file."""
    spell = machine.rules.spell
    return orjson.dumps(
        {
            "game": game,
            "role": spell(machine.roles[role]),
            "value": solution.value,
            "plies": solution.plies,
            "best": solution.best,
            "proof": "search",
            "nodes": solution.nodes,
            "true": [spell(p) for p in sorted(state.propositions)],
        }
    )


def search(game: str, machine: Machine, each: int, nodes: int, seed: int, budget: int) -> Iterator[bytes]:
    """Positions of one game, ``each`` of every depth as far as random matches bring them."""
    rng = random.Random(seed)
    solver = Solver(machine, nodes)
    wanted = dict.fromkeys(DEPTHS, each)
    seen: set[State] = set()
    for _ in range(MATCHES):
        if not any(wanted.values()) or budget < 0:
            break
        states = match(machine, rng)
        back = rng.randrange(1, 12)
        if len(states) <= back or states[-1 - back] in seen:
            continue
        state = states[-1 - back]
        seen.add(state)
        try:
            role = mover_of(machine, state)
            options = machine.legal_moves(state, role)
            if len(options) < 3:
                continue
            solver.forget()
            claim, plies = solver.decide(state, role, 100, max(d for d, n in wanted.items() if n))
            budget -= solver.nodes
            if claim is not Claim.PROVEN or not wanted.get(plies):
                continue
            solution = solver.solve(state, role)
            budget -= solver.nodes
        except OutOfNodesError:
            budget -= nodes
            continue
        if solution.plies == plies and 2 * len(solution.best) <= len(options):
            wanted[plies] -= 1
            yield line(game, machine, state, role, solution)


def match(machine: Machine, rng: random.Random) -> list[State]:
    """The states of a random match."""
    states = [machine.initial_state()]
    while not machine.is_terminal(states[-1]):
        options = [machine.legal_moves(states[-1], role) for role in (0, 1)]
        states.append(machine.next_state(states[-1], [rng.choice(moves) for moves in options]))
    return states


def main() -> None:
    """Read the arguments, search game by game, print the lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("games", nargs="+")
    parser.add_argument("--each", type=int, default=2, help="positions of each depth")
    parser.add_argument("--nodes", type=int, default=50_000, help="positions looked at for one proof")
    parser.add_argument("--budget", type=int, default=600_000, help="positions looked at for one game")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--after", help="solve the position after these moves")
    given = parser.parse_args()
    for name in given.games:
        game = load_game(name)
        machine = game.machine("propnet")
        if given.after is not None:
            state = machine.initial_state()
            for move in parse_terms(given.after, "--after"):
                state = state.play(move)
            role = mover_of(machine, state)
            solution = Solver(machine, given.nodes).solve(state, role, LONGEST, count=False)
            lines = iter([line(game.name, machine, state, role, solution)])
        else:
            lines = search(game.name, machine, given.each, given.nodes, given.seed, given.budget)
        for text in lines:
            sys.stdout.buffer.write(text + b"\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
