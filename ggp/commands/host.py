"""``ggp host``: a game manager for one match between players over HTTP."""

from __future__ import annotations

from pathlib import Path

import typer

from gdl.errors import GdlError
from ggp.commands import GameName


def command(
    game: GameName,
    players: str = typer.Option(
        ..., "--players", "-p", help="One per role, by commas: http://host:port, host:port, random, legal."
    ),
    startclock: int = typer.Option(10, min=0, help="Seconds before the first move."),
    playclock: int = typer.Option(5, min=1, help="Seconds for each move."),
    seed: int = typer.Option(0, help="Seed of random moves."),
    out: Path | None = typer.Option(None, "--out", "-o", help="Write the match here as JSON."),
    scramble: bool = typer.Option(False, "--scramble", help="Hide the words of the game from the players."),
    match_id: str = typer.Option("", help="Id of the match; made from game and time by default."),
    names: str = typer.Option("", help="Names for the record, by commas; asked by INFO by default."),
    machine: str = typer.Option(
        "prover", "--machine", "-m", help="Referee: prover, propnet, native or auto."
    ),
) -> None:
    """Run a match between players over HTTP (a game manager).

    Late, unreadable and illegal answers are replaced by random legal moves and reported.
    Ctrl-C aborts the match at the players too. The exit status is 1 if anything had to be
    replaced.
    """
    import asyncio

    from rich.console import Console
    from rich.markup import escape

    from ggp.game import Game
    from ggp.manager import GameManager, MatchStep, RemotePlayer, ask_names, parse_players
    from ggp.protocol.cipher import cipher_for
    from ggp.protocol.match_record import MatchRecord, now_ms

    loaded = Game.load(game)
    seats = parse_players(players)
    given = [name.strip() for name in names.split(",")] if names else []
    if given and (len(given) != len(seats) or not all(n and n.isprintable() for n in given)):
        raise GdlError(f"--names gives {len(given)} names for {len(seats)} players")
    stem = "".join(c for c in loaded.name if c.isalnum() or c in "-_")
    match_id = match_id or f"Match.kaskade.{stem}.{now_ms()}"
    if not match_id.isprintable() or any(c in " ();" for c in match_id):
        raise GdlError(f"{match_id!r} cannot be a match id", remedy="use one word without parentheses")

    console = Console(highlight=False)
    referee = loaded.machine(machine)
    spell = referee.rules.spell
    roles = [spell(role) for role in referee.roles]
    record = MatchRecord(match_id, startclock, playclock, [s.name for s in seats], scrambled=scramble)
    faults = 0

    def watch(step: MatchStep) -> None:
        nonlocal faults
        for role, seat, error, seconds, move in zip(
            roles, seats, step.errors, step.seconds, step.moves or [""] * len(roles), strict=True
        ):
            if not step.moves and not error:
                continue
            time = f" [dim]{seconds:.1f} s[/]" if isinstance(seat, RemotePlayer) else ""
            text = f"{step.number:4}  {escape(role)} ({escape(seat.name)}): {escape(move)}{time}"
            if error:
                faults += 1
                text += f"  [red]{escape(error)}[/]" + (" [yellow]random move instead[/]" if move else "")
            console.print(text, soft_wrap=True)

    async def play() -> None:
        if given:
            for seat, name in zip(seats, given, strict=True):
                seat.name = name
        else:
            await ask_names(seats)
        record.players = [seat.name for seat in seats]
        cipher = cipher_for(loaded.rules, seed) if scramble else None
        manager = GameManager(loaded.text, referee, seats, record, seed=seed, cipher=cipher, watch=watch)
        who = ", ".join(f"{escape(r)} = {escape(s.name)}" for r, s in zip(roles, seats, strict=False))
        console.print(f"{escape(loaded.name)}: {who}", soft_wrap=True)
        await manager.run()

    try:
        asyncio.run(play())
        result = ", ".join(f"{escape(r)} {g}" for r, g in zip(roles, record.goals, strict=True))
        console.print(f"[bold]{result}[/] after {len(record.moves)} turns, {faults} errors", soft_wrap=True)
    except KeyboardInterrupt:
        console.print("[yellow]aborted[/]")
        raise
    finally:
        if out is not None:
            out.write_text(record.to_json() + "\n", encoding="utf-8")
    if faults:
        raise typer.Exit(1)
