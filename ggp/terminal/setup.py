"""Puts a match in this process together: machine, players, view."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from rich.console import Console
from rich.text import Text

from gdl.errors import GdlError
from gdl.machine import Machine
from ggp.game import Game
from ggp.terminal.boards.board import find_board
from ggp.terminal.boards.text import Painter
from ggp.terminal.human import HumanPlayer, Quit
from ggp.terminal.local_match import play_match
from ggp.terminal.spinner import spinner
from ggp.terminal.views import JsonView, TextView
from players.kaskade.kaskade import BOTTOM, FAILED, Event, Kaskade
from players.kaskade.player import KaskadePlayer
from players.player import Player
from players.registry import check_name, make_player

HUMAN = "human"


def people(names: Sequence[str]) -> bool:
    """Whether a person takes part."""
    return HUMAN in names


def check_names(names: Sequence[str], as_json: bool) -> None:
    """Complain about players that cannot be. Raises GdlError."""
    for name in names:
        if name != HUMAN:
            check_name(name)
    if as_json and people(names):
        raise GdlError("--json leaves no room for a person's prompts", remedy="leave out one of them")


def seats(names: Sequence[str], roles: Sequence[str]) -> list[str]:
    """The player's name for each role: what was asked for, and a fitting one for roles left out.

    Raises:
        GdlError: more names than roles.
    """
    if len(names) > len(roles):
        raise GdlError(
            f"{len(names)} players for {len(roles)} role{'s' if len(roles) > 1 else ''}",
            remedy=f"the roles are {', '.join(roles)}",
        )
    if not names:
        return ["uct", *["random"] * (len(roles) - 1)]
    rest = "uct" if all(name == HUMAN for name in names) else "random"
    return [*names, *[rest] * (len(roles) - len(names))]


def play_in_terminal(
    game: Game,
    names: Sequence[str],
    level: str,
    prepared_by: float,
    playclock: float,
    seed: int,
    max_steps: int | None,
    workers: int,
    board: bool,
    delay: float,
) -> None:
    """Play a match and print it for people. Raises KeyboardInterrupt when a person leaves."""
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    with ExitStack() as kept:
        with spinner(console) as progress:
            task = progress.add_task(f"{game.name}: reading the rules")

            def tell(event: Event) -> None:
                progress.update(task, description=f"{game.name}: {event}")
                if event.what == FAILED:
                    console.print(Text(str(event), "yellow"))

            kaskade = kept.enter_context(Kaskade(level, on_event=tell))
            machine = _first_machine(game, kaskade, level)
            show = partial(console.print, markup=False)
            players = _players(names, kaskade, machine, seed, workers, show)
            progress.update(task, description=f"{game.name}: looking for a board")
            painter = Painter(find_board(machine) if board else None, machine.rules, machine.roles)
        spell = machine.rules.spell
        who = ", ".join(f"{spell(r)}: {p.name}" for r, p in zip(machine.roles, players, strict=True))
        console.print(f"[bold]{game.name}[/bold] on the {machine.level} machine; {who}")
        view = TextView(console, machine, players, painter, board, delay)
        kept.callback(view.close)
        try:
            play_match(machine, players, view, prepared_by, playclock, max_steps)
        except Quit:
            raise KeyboardInterrupt from None


def play_json(
    game: Game,
    names: Sequence[str],
    level: str,
    prepared_by: float,
    playclock: float,
    seed: int,
    max_steps: int | None,
    workers: int,
) -> None:
    """Play a match and print it as JSON lines, each flushed at once."""

    def write(line: bytes) -> None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    with Kaskade(level) as kaskade:
        machine = _first_machine(game, kaskade, level)
        players = _players(names, kaskade, machine, seed, workers, print)
        view = JsonView(machine, players, game.name, write)
        play_match(machine, players, view, prepared_by, playclock, max_steps)


def _first_machine(game: Game, kaskade: Kaskade, level: str) -> Machine:
    """The machine that the match begins on: the one that was asked for, or the first above the prover.
    Where it cannot be built, the furthest that can be."""
    kaskade.begin(game.text, game.rules)
    kaskade.wait(level if level in kaskade.levels else next(iter(kaskade.levels), BOTTOM))
    return kaskade.best()


def _players(
    names: Sequence[str],
    kaskade: Kaskade,
    machine: Machine,
    seed: int,
    workers: int,
    show: Callable[[str], None],
) -> list[Player]:
    roles = [machine.rules.spell(role) for role in machine.roles]
    found: list[Player] = []
    seated = seats(names, roles)
    # Our players think one after the other: only one that is alone may think while others do.
    ponder = sum(name not in (HUMAN, "random", "legal") for name in seated) == 1
    for role, name in enumerate(seated):
        if name == HUMAN:
            found.append(HumanPlayer(show=show))
        else:
            made = make_player(name, seed * 64 + role, workers=workers, ponder=ponder)
            found.append(KaskadePlayer(made, kaskade))
    return found
