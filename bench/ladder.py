"""Is each rung stronger than the one below: random, greedy, montecarlo, uct (1 worker), uct (all cores)?

    python -m bench.ladder --seconds 0.5 --rounds 20 --folder bench/out/ladder

Each rung plays against the one below, both ways from random openings, until a sequential test says whether
it is stronger by ``--elo`` points. Results are kept in the folder, one file per pair of rungs: the same
command goes on with them.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ggp.game import Game
from ggp.tournament.runner import Runner
from ggp.tournament.session import stored_settings
from ggp.tournament.settings import Entrant, GameSpec, TournamentSettings, parse_entrants
from ggp.tournament.statistics.ratings import Sprt, rate
from ggp.tournament.statistics.scores import block_scores, comparisons, crosstable
from ggp.tournament.statistics.tables import LiveTable
from ggp.tournament.store import Result, Store

GAMES = ("connectfour", "breakthrough", "othello", "checkers", "hex", "kalah")


# Players that do not think on the opponent's time can share its cores with it.
RUNGS = ("random", "greedy", "montecarlo", "uct:workers=1,ponder=no", "uct:workers=all,ponder=no")


def climb(
    pair: list[Entrant], games: tuple[GameSpec, ...], given: argparse.Namespace, test: Sprt, console: Console
) -> list[Result]:
    """The matches of one rung (first) against the one below."""
    settings = TournamentSettings(
        name="ladder",
        games=games,
        entrants=tuple(pair),
        rounds=given.rounds,
        startclock=given.seconds,
        playclock=given.seconds,
        plies=given.plies,
        seed=given.seed,
        take_turns=not given.own_cores,
    )
    name = "-".join(entrant.label.replace(":", "_") for entrant in pair)
    with Store(given.folder / f"{name}.sqlite") as store:
        if earlier := stored_settings(store):
            settings = settings.continues(earlier)
        store.set("settings", settings.as_json())
        runner = Runner(settings, store, sprt=test)
        console.print(f"[bold]{pair[0].label}[/] against [bold]{pair[1].label}[/]")
        asyncio.run(runner.run(LiveTable(console, runner.results, settings.labels, runner.total, test)))
        return store.results()


def main() -> None:
    """Read the arguments, climb, print the ladder; exit status 1 where a rung is not proven."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("players", nargs="*", help="the rungs, the weakest first; all by default")
    parser.add_argument("--games", nargs="+", default=list(GAMES))
    parser.add_argument("--seconds", type=float, default=0.5, help="for each move")
    parser.add_argument("--rounds", type=int, default=20, help="openings of each game, at most")
    parser.add_argument("--plies", type=int, default=2, help="random moves to begin with")
    parser.add_argument("--elo", type=float, default=70.0, help="by how much a rung is to be stronger")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--own-cores", action="store_true", help="for players that think on the opponent's time"
    )
    parser.add_argument("--folder", type=Path, default=Path("bench/out/ladder"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    games = tuple(
        GameSpec(game.name, game.text, len(game.machine("prover").roles))
        for game in map(Game.load, given.games)
    )
    test = Sprt(0, given.elo)
    table = Table("rung", "against", "score", "matches", "Elo", "95 %", "LLR", "stronger", box=None)
    proven = True
    for below, above in pairwise(parse_entrants(given.players or RUNGS)):
        results = climb([above, below], games, given, test, console)
        scores = block_scores(results, above.label, below.label)
        compared = list(comparisons(results))
        tally = crosstable(compared)[above.label, below.label]
        rating = rate(compared, [above.label, below.label])[above.label]
        verdict = test.verdict(scores)
        proven &= verdict == "H1"
        table.add_row(
            above.label,
            below.label,
            f"{100 * tally.score:.1f} %",
            f"{tally.games:g}",
            f"{2 * rating.elo:+.0f}",
            f"{2 * rating.low:+.0f}..{2 * rating.high:+.0f}",
            f"{test.llr(scores):.2f}",
            {"H1": "yes", "H0": "[red]no[/]", "": "[yellow]not known[/]"}[verdict],
        )
    console.print(table)
    sys.exit(0 if proven else 1)


if __name__ == "__main__":
    main()
