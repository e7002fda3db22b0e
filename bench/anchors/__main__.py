"""How strong is the player beside engines made for one game? One table.

    python -m bench.anchors --seconds 0.5 --games 4 --nodes 1 --depth 1
    python -m bench.anchors uct:knowledge=off --only connectfour --positions 50 --seconds 1

Chess (games/chess.kif) against Stockfish, each strength that is named; connect four against an exact solver:
in how many random positions does the player keep the exact value? Stockfish is skipped, with the reason,
if it is not installed. The player's options are those of any player. `ggp tournament` has matches against
OpenSpiel's tree search, ``players.openspiel:mcts``.
"""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from bench.anchors.match import keep_values, play_chess
from bench.anchors.stockfish import StockfishAnchor, missing
from bench.scripts import arguments
from gdl.machine import Machine
from ggp.game import Game
from ggp.tournament.statistics.scores import Tally
from ggp.training.trial import summary
from players.kaskade.guided_machine import guided
from propnet.native.machine import NativeMachine


def _machine(game: str) -> Machine:
    """The machine that players come to think on in a match."""
    machine = Game.load(game).machine("auto")
    return guided(machine) if isinstance(machine, NativeMachine) else machine


def main() -> None:
    """Read the arguments, measure, print the table."""
    parser = arguments(__doc__)
    parser.add_argument("player", nargs="?", default="uct")
    parser.add_argument("--only", choices=("chess", "connectfour"))
    parser.add_argument("--seconds", type=float, default=1.0, help="for each move of the player")
    parser.add_argument("--games", type=int, default=4, help="against each strength")
    parser.add_argument("--startclock", type=float, default=0.0, help="seconds before each match of chess")
    parser.add_argument("--nodes", type=int, action="append", default=[], help="may be repeated")
    parser.add_argument("--depth", type=int, action="append", default=[], help="may be repeated")
    parser.add_argument("--skill", type=int, action="append", default=[], help="0 to 20, at depth 5")
    parser.add_argument("--positions", type=int, default=50, help="of connect four")
    parser.add_argument(
        "--plies", type=int, nargs=2, default=(6, 14), help="of them; solving one of 6 takes up to a minute"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    table = Table("game", "engine", "strength", "score", box=None, header_style="bold")
    if given.only in (None, "chess"):
        _chess(given, table)
    if given.only in (None, "connectfour"):
        machine, plies = _machine("connectfour"), range(given.plies[0], given.plies[1] + 1)
        found = keep_values(machine, given.player, given.seconds, given.positions, plies, given.seed)
        for one in found.lost:
            print(f"  {one}")
        kept = Tally(found.kept, 0, found.asked - found.kept)
        table.add_row("connectfour", "own solver", "exact", f"value kept: {summary(kept)}")
    console = Console(highlight=False, width=140)
    console.print(f"{given.player}, {given.seconds:g} s a move")
    console.print(table)


def _chess(given: argparse.Namespace, table: Table) -> None:
    """A row for each strength of Stockfish."""
    if reason := missing():
        table.add_row("chess", "Stockfish", "skipped", reason)
        return
    machine = _machine("chess")
    strengths: list[dict[str, int]] = [{"nodes": n} for n in given.nodes]
    strengths += [{"depth": d} for d in given.depth] + [{"depth": 5, "skill": s} for s in given.skill]
    for strength in strengths or [{"nodes": 1}]:
        with StockfishAnchor(**strength) as engine:
            score = play_chess(machine, given.player, given.seconds, engine, given.games, given.startclock)
        told = ", ".join(f"{key} {value}" for key, value in strength.items())
        table.add_row("chess", "Stockfish", told, summary(score))


if __name__ == "__main__":
    main()
