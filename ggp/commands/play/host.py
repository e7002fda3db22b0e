"""``ggp host``: a game manager for one match between players over HTTP."""

from __future__ import annotations

from pathlib import Path

import typer

from gdl.errors import GdlError
from ggp.commands import EVENTS, GameName, check_writable
from ggp.commands.play import Clock, read_clock


def command(
    game: GameName,
    players: str = typer.Option(
        ..., "--players", "-p", help="One per role, by commas: http://host:port, host:port, random, legal."
    ),
    clock: Clock = "10,5",
    seed: int | None = typer.Option(
        None,
        max=2**128 - 1,
        help="Seed of random moves and of the deals of chance.",
        show_default="drawn, and saved in --output",
    ),
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        help="Write the match here as JSON, after each step, or at its end.",
    ),
    scramble: bool = typer.Option(False, "--scramble", help="Hide the words of the game from the players."),
    anyway: bool = typer.Option(
        False, "--anyway", help="Begin even if a player does not answer or is busy; it gets random moves."
    ),
    events: int | None = EVENTS,
    percepts_only: bool = typer.Option(
        False,
        "--percepts-only",
        help="Hidden information: send percepts without turn and last move (gamecontroller's dialect).",
    ),
) -> None:
    """Run a match between players over HTTP (a game manager).

    Chance, the role random, needs no player: the manager draws its moves, all legal ones alike. In games
    of hidden information each player receives its percepts, and --output is written at the end.

    Players that do not answer or are busy are reported before the match begins. Late, unreadable
    and illegal answers are replaced by random legal moves and reported. If every move of a player
    was replaced, the match has no result. Ctrl-C, SIGTERM and a closed pipe also abort the match
    for the players. The exit status is 1 if anything had to be replaced.
    """
    import asyncio
    import signal
    from collections import Counter
    from contextlib import suppress

    from rich.text import Text

    from gdl.information import hides
    from gdl.scramble import cipher_for
    from gdl.words import counted
    from ggp.console import new_console
    from ggp.game import Game
    from ggp.manager import (
        NO_CONNECTION,
        GameManager,
        RemotePlayer,
        TurnReport,
        in_words,
        make_distinct,
        meet,
        parse_players,
        with_chance,
    )
    from ggp.output_file import write_file
    from ggp.protocol import messages
    from ggp.protocol.match_record import MatchRecord, draw_seed, now_ms
    from ggp.server.match_news import MatchNews
    from ggp.server.newsroom import Newsroom

    startclock, playclock = map(int, read_clock(clock, 10, whole=True))
    check_writable(output)
    loaded = Game.load(game)
    referee = loaded.machine("prover")
    seats = with_chance(parse_players(players), referee)
    stem = "".join(c for c in loaded.name if c.isalnum() or c in "-_")
    match_id = f"Match.kaskade.{stem}.{now_ms()}"

    console = new_console()
    spell = referee.rules.spell
    roles = [spell(role) for role in referee.roles]
    record = MatchRecord(
        match_id, int(startclock), int(playclock), [s.name for s in seats], scrambled=scramble
    )
    seed = draw_seed() if seed is None else seed
    record.game, record.rules, record.seed = loaded.name, loaded.kif, seed
    hidden = hides(referee.rules)
    newsroom = Newsroom("ggp host")
    news: MatchNews | None = None
    cipher = cipher_for(loaded.rules, seed) if scramble else None
    unready = 0
    replaced = Counter[int]()

    def watch(step: TurnReport) -> None:
        nonlocal unready, news
        if news is None:
            clocks = startclock, playclock
            news = newsroom.begin(match_id, loaded.kif, loaded.name, record.players, clocks)
        else:
            news.joint(step.moves, list(map(in_words, step.errors)))
        for role, (seat, error, seconds) in enumerate(zip(seats, step.errors, step.seconds, strict=True)):
            if not step.moves and not error:
                continue
            move = step.moves[role] if step.moves else ""
            text = Text(f"{step.number:4}  {roles[role]} ({seat.name}): {move}")
            if isinstance(seat, RemotePlayer):
                text.append(f" {seconds:.1f} s", "dim")
            if not move and not anyway and error.startswith((NO_CONNECTION, f"not ready: {messages.BUSY}")):
                raise GdlError(
                    f"{seat.name} does not take the match: {in_words(error)}",
                    remedy="a server plays as many roles at once as its --matches says; --anyway plays on",
                )
            if error:
                unready += not move
                replaced[role] += bool(move)
                text.append(f"  {in_words(error)}", "red")
                if move:
                    text.append(" random move instead", "yellow")
            console.print(text, soft_wrap=True)
        if output is not None and not hidden:
            with suppress(GdlError):  # reported at the end
                write_file(output, (record.to_json() + "\n").encode())

    manager = GameManager(
        loaded.kif, referee, seats, record, seed=seed, cipher=cipher, watch=watch, numbered=not percepts_only
    )

    async def play() -> None:
        task = asyncio.current_task()
        if task is not None:
            for number in (signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        faults = await meet(seats)
        if faults and not anyway:
            raise GdlError("; ".join(faults), remedy="--anyway plays on, with random moves in their place")
        for fault in faults:
            console.print(Text(fault, "yellow"), soft_wrap=True)
        make_distinct(seats)
        record.players = [seat.name for seat in seats]
        who = ", ".join(f"{r} = {s.name}" for r, s in zip(roles, seats, strict=True))
        console.print(f"{loaded.name}: {who}", soft_wrap=True)
        try:
            await manager.run()
        finally:
            newsroom.end(match_id, "abort" if record.aborted else "stop", record.goals)

    async def told() -> None:
        if events is None:
            await play()
            return
        async with newsroom.open(events) as port:
            console.print(f"watch it: ggp web --watch http://127.0.0.1:{port}", soft_wrap=True)
            await play()

    try:
        asyncio.run(told())
        turns = len(record.moves)
        absent = [role for role, seat in enumerate(seats) if turns and replaced[role] == turns]
        if absent:
            who = ", ".join(f"{roles[r]} ({seats[r].name})" for r in absent)
            text = Text.assemble(("no result", "bold red"), f": every move of {who} was random")
            console.print(text, soft_wrap=True)
        else:
            goals = [pair for pair in zip(roles, record.goals, strict=True) if pair[0].lower() != "random"]
            result = ", ".join(f"{r} {g}" for r, g in goals)
            errors = unready + replaced.total()
            counts = f"{counted(turns, 'turn')}, {counted(errors, 'error')}"
            console.print(Text.assemble((result, "bold"), f" after {counts}"), soft_wrap=True)
            for doubt in manager.match.doubts:
                console.print(Text(f"{doubt}: the highest that holds counts, or 0", "yellow"), soft_wrap=True)
    except KeyboardInterrupt:
        console.print("aborted", style="yellow")
        raise
    except asyncio.CancelledError:
        console.print("aborted", style="yellow")
        raise typer.Exit(128 + signal.SIGTERM) from None
    except SystemExit:  # rich raises it when the pipe's reader has gone
        raise BrokenPipeError from None
    finally:
        if output is not None and record.states:
            write_file(output, (record.to_json() + "\n").encode())
    if unready or replaced:
        raise typer.Exit(1)
