"""``ggp play``: a match in the terminal, between our players and people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ggp.commands import GameName
from ggp.commands.play import Clock, read_clock
from ggp.printing import show

if TYPE_CHECKING:
    from ggp.game import Game

_LOOK_SECONDS = 0.2
"""Seconds for which a terminal shows a state at least, if no person moves."""


def command(
    game: GameName,
    players: str = typer.Option(
        "",
        "--players",
        "-p",
        help="One per role, by commas: uct, montecarlo, greedy, random, legal, tables, human; options as in "
        "uct:playouts=1000,workers=1. Roles left out are played by random, "
        "or by uct if only people are named.",
        show_default="uct for one role, else uct,random",
    ),
    clock: Clock = "1,1",
    seed: int = typer.Option(0, min=0, help="Seed of the players' randomness."),
    max_steps: int | None = typer.Option(None, min=0, help="Stop after this many steps."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object per line: game, steps, result."),
    in_browser: bool = typer.Option(False, "--web", help="In a browser instead: prints the address to open."),
) -> None:
    """Watch or play a match in the terminal.

    The players think one after the other. A person chooses moves by number or by name; Ctrl-C
    leaves at any time (exit status 130). Exit status 1 if a role gets stuck: it has no legal move in a
    state that is not terminal.
    """
    import sys
    import time

    from ggp.game import Game

    began = time.monotonic()
    startclock, playclock = read_clock(clock, 1.0)
    loaded = Game.load(game)  # before slow imports: a wrong name fails at once

    from ggp.terminal.setup import HUMAN, LocalMatch, check_names, doubts
    from players.options import read_names
    from players.processes.limits import cores

    names = [HUMAN if name.lower() == HUMAN else name for name in read_names(players)]
    check_names(names, as_json)
    if doubt := doubts(loaded):
        show(f"ggp: {doubt}", err=True)
    if in_browser:
        _play_in_browser(loaded, names, {"playclock": playclock, "seed": seed, "workers": cores()})
        return
    delay = _LOOK_SECONDS if sys.stdout.isatty() and HUMAN not in names else 0.0
    match = LocalMatch(loaded, names, began + startclock, playclock, seed, max_steps, cores())
    try:
        stuck = match.print_json() if as_json else match.print(delay)
    except KeyboardInterrupt:
        show("", err=True)
        raise typer.Exit(130) from None
    if stuck:
        raise typer.Exit(1)


def _play_in_browser(game: Game, names: list[str], terms: dict[str, Any]) -> None:
    """Serve a table with these players until Ctrl-C; roles left out are played by uct."""
    import asyncio

    from ggp.terminal.setup import HUMAN
    from ggp.web.app import serve
    from ggp.web.gate import WebSettings
    from players.fleet.open_fleet import permit_only
    from players.registry import clusters_of

    table = {"game": game.name, "rules": game.text, "seats": names, "others": "uct", **terms}
    permit_only(clusters_of(names))
    settings = WebSettings(port=0, players=tuple(name for name in names if name != HUMAN))
    asyncio.run(serve(settings, table))
