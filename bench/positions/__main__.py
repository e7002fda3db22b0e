"""How many positions with a proven best move does a player solve? A search that became weaker misses some.

python -m bench.positions uct --seconds 1
python -m bench.positions uct --proof exact # 200 positions of connect four
python -m bench.positions --verify          # proves the positions anew
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from bench.positions import BY_SEARCH, LONGEST, ProvenPosition, load, load_game
from bench.positions.solver import Solver
from bench.scripts import command_line, ready
from gdl.machine import Machine
from players.kaskade.guided_machine import guided
from propnet.native.machine import NativeMachine


def answer(position: ProvenPosition, machine: Machine, name: str, seconds: float, seed: int) -> str:
    """The move of a player that has no time but that for this move."""
    state, role = position.on(machine)
    player = ready(name, seed, machine, role, state)
    choice = player.choose(state, time.monotonic() + seconds)
    player.stop()
    return machine.rules.spell(machine.move(role, choice.move))


def run(player: str, level: str, seconds: float, seed: int, positions: Sequence[ProvenPosition]) -> int:
    """Ask about these positions, print the score by game and by depth; return how many were missed."""
    console = Console(highlight=False)
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
            console.print(
                f"{position.game}, {position.role}, {position.value} in {position.plies}:"
                f" {move} instead of {' '.join(position.best)}",
                markup=False,
                soft_wrap=True,
            )
    for title, scores in (("game", sorted(by_game.items())), ("plies", sorted(by_depth.items()))):
        table = Table(title, "right", "of", box=None, header_style="bold")
        for key, rights in scores:
            table.add_row(str(key), str(sum(rights)), str(len(rights)))
        console.print(table)
    missed = sum(rights.count(False) for rights in by_game.values())
    console.print(f"[bold]{len(positions) - missed} of {len(positions)}[/] by {player}, {seconds:g} s a move")
    return missed


def verify(positions: Iterable[ProvenPosition]) -> int:
    """Prove positions by search again; return how many are not as the file says."""
    wrong = 0
    for position in positions:
        machine = load_game(position.game).machine("propnet")
        solver = Solver(machine, 10 * position.nodes + 1000)
        solution = solver.solve(*position.on(machine), LONGEST, count=position.plies > 0)
        proven = (solution.value, solution.best, solution.plies)
        good = proven == (position.value, position.best, position.plies)
        wrong += not good
        print(f"{position.game} {position.role}: {solution}" + ("" if good else "  THE FILE SAYS ELSE"))
    return wrong


def main() -> None:
    """Read the arguments; the exit status is 1 where something was missed or is wrong."""
    parser = command_line(__doc__)
    parser.add_argument("player", nargs="?", default="uct")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each move")
    parser.add_argument("--machine", default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--game", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--proof", action="append", default=[], help="only with this proof; may be repeated")
    parser.add_argument("--verify", action="store_true", help="prove the positions anew")
    given = parser.parse_args()
    positions = [
        position
        for position in load()
        if (not given.game or position.game in given.game)
        and (not given.proof or position.proof in given.proof)
    ]
    if given.verify:
        missed = verify(position for position in positions if position.proof == BY_SEARCH)
    else:
        missed = run(given.player, given.machine, given.seconds, given.seed, positions)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
