"""Runs a player over positions whose best moves are proven: a search that became weaker misses some.

    python -m bench.positions uct --seconds 1
    python -m bench.positions --verify          # proves the file anew

bench/positions.jsonl has one position per line: ``game``, ``role`` to move, what is ``true``, its ``value``
for that role, the ``best`` moves, the number of ``plies`` within which the value is forced, and the
``proof``: ``search`` (bench/solver.py: exhaustive, all other moves are worse) or the work where it is
published. bench/find_positions.py looks for more.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table

from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term
from ggp.game import Game, games_folder
from players.kaskade.guided_machine import guided
from players.registry import make_player
from propnet.native.machine import NativeMachine

HERE = Path(__file__).parent
FILE = HERE / "positions.jsonl"
BY_SEARCH = "search"
LONGEST = 400
"""Joint moves that a proof may look ahead."""


@dataclass(frozen=True, slots=True)
class ProvenPosition:
    """One line of the file."""

    game: str
    role: str
    value: int
    plies: int
    best: tuple[str, ...]
    proof: str
    nodes: int
    true: tuple[str, ...]

    def on(self, machine: Machine) -> tuple[State, int]:
        """The state and the role that moves, on a machine of its game."""
        state = machine.state_of(map(parse_term, self.true))
        return state, machine.role_id(parse_term(self.role))


def load(path: Path = FILE) -> list[ProvenPosition]:
    """All positions of a file."""
    positions = []
    for text in path.read_bytes().splitlines():
        fields = orjson.loads(text)
        positions.append(
            ProvenPosition(**{**fields, "best": tuple(fields["best"]), "true": tuple(fields["true"])})
        )
    return positions


def load_game(name: str) -> Game:
    """A game that comes along, or one that only the positions need."""
    own = HERE / f"{name}.kif"
    return Game.load(own if own.is_file() else games_folder() / f"{name}.kif")


def answer(position: ProvenPosition, machine: Machine, player: str, seconds: float, seed: int) -> str:
    """The move of a player that has no time but that for this move."""
    state, role = position.on(machine)
    thinker = make_player(player, seed)
    now = time.monotonic()
    thinker.start(machine, role, state, 0.0, now)
    choice = thinker.choose(state, time.monotonic() + seconds)
    thinker.stop()
    return machine.rules.spell(machine.move(role, choice.move))


def run(player: str, level: str, seconds: float, seed: int, only: list[str]) -> int:
    """Ask about all positions, print the score by game and by depth; returns how many were missed."""
    console = Console(highlight=False)
    positions = [p for p in load() if not only or p.game in only]
    machines: dict[str, Machine] = {}
    by_game: dict[str, list[bool]] = defaultdict(list)
    by_depth: dict[int, list[bool]] = defaultdict(list)
    for number, position in enumerate(positions):
        if position.game not in machines:
            machine = load_game(position.game).machine(level)
            # Players come to think on the guided machine in a match.
            machines[position.game] = guided(machine) if isinstance(machine, NativeMachine) else machine
            # Everything is compiled before the first clock runs.
            answer(position, machines[position.game], player, 0.1, seed)
        move = answer(position, machines[position.game], player, seconds, seed + number)
        right = move in position.best
        by_game[position.game].append(right)
        by_depth[position.plies].append(right)
        if not right:
            best = " ".join(position.best)
            console.print(
                f"{position.game}, {position.role}, {position.value} in {position.plies}:"
                f" {move} instead of {best}",
                markup=False,
                soft_wrap=True,
            )
    for title, counts in (("game", by_game), ("plies", by_depth)):
        table = Table(title, "right", "of", box=None, header_style="bold")
        for key in sorted(counts):  # type: ignore[type-var]
            rights = counts[key]  # type: ignore[index]
            table.add_row(str(key), str(sum(rights)), str(len(rights)))
        console.print(table)
    missed = sum(not right for rights in by_game.values() for right in rights)
    console.print(f"[bold]{len(positions) - missed} of {len(positions)}[/] by {player}, {seconds:g} s a move")
    return missed


def verify(only: list[str]) -> int:
    """Prove the positions anew; returns how many are not as the file says."""
    from bench.solver import Solver

    wrong = 0
    for position in load():
        if position.proof != BY_SEARCH or (only and position.game not in only):
            continue
        machine = load_game(position.game).machine("propnet")
        solver = Solver(machine, 10 * position.nodes + 1000)
        solution = solver.solve(*position.on(machine), LONGEST, count=position.plies > 0)
        good = (solution.value, solution.best, solution.plies) == (
            position.value,
            position.best,
            position.plies,
        )
        wrong += not good
        print(f"{position.game} {position.role}: {solution}" + ("" if good else "  THE FILE SAYS ELSE"))
    return wrong


def main() -> None:
    """Read the arguments; the exit status is 1 where something was missed or is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("player", nargs="?", default="uct")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each move")
    parser.add_argument("--machine", default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--game", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--verify", action="store_true", help="prove the positions anew")
    given = parser.parse_args()
    if given.verify:
        missed = verify(given.game)
    else:
        missed = run(given.player, given.machine, given.seconds, given.seed, given.game)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
