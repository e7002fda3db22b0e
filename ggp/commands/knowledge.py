"""``ggp knowledge``: what is known of games: listed, shown, carried to other machines, checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from players.knowledge.knowledge import GameKnowledge

_ACTIONS = "list", "show", "export", "import", "verify"


def command(
    action: Annotated[str, typer.Argument(help="list, show, export, import or verify.")] = "list",
    what: Annotated[
        str | None,
        typer.Argument(help="show, export: a game. import, verify: a file that was exported."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="export: the file to write.")] = None,
    most: Annotated[int, typer.Option(help="show: so many weights, the largest.", min=1)] = 20,
    force: Annotated[bool, typer.Option("--force", help="import: also in place of more moves.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="list: one JSON object per game.")] = False,
) -> None:
    """List what was learnt of games by `ggp train`.

    show prints what weighs most, in the game's own names. export and import carry it to another machine.
    verify reads a file, or all that is kept, and exits with status 1 where one is damaged.
    """
    from gdl.errors import GdlError

    if action not in _ACTIONS:
        raise GdlError(f"there is nothing to do that is called {action!r}", remedy=", ".join(_ACTIONS))
    if action == "list":
        _list(as_json)
    elif action == "verify":
        _verify(what)
    elif what is None:
        raise GdlError(f"`ggp knowledge {action}` needs a {'file' if action == 'import' else 'game'}")
    elif action == "import":
        _import(Path(what), force)
    elif action == "show":
        _show(what, most)
    else:
        _export(what, output)


def _list(as_json: bool) -> None:
    import orjson

    from players.knowledge.store import KnowledgeStore

    store = KnowledgeStore()
    for fingerprint in store.fingerprints():
        known = store.get(fingerprint)
        if as_json and known is not None:
            typer.echo(orjson.dumps(_row(known)))
        elif known is not None:
            typer.echo(_line(known))
        else:
            typer.echo(f"{fingerprint[:12]} cannot be used: `ggp knowledge verify` says why", err=True)


def _row(known: GameKnowledge) -> dict[str, object]:
    record = known.record
    return {
        "game": known.game,
        "fingerprint": known.fingerprint,
        "moves": known.moves,
        "seconds": round(known.seconds, 1),
        "model": known.model,
        "features": len(known.features),
        "share": known.share,
        "looks": known.looks,
        "won": record.wins,
        "drawn": record.draws,
        "lost": record.losses,
    }


def _line(known: GameKnowledge) -> str:
    record = known.record
    tried = f"won {record.wins}, drew {record.draws}, lost {record.losses}"
    return (
        f"{known.fingerprint[:12]} {known.game:20} {known.model:7} {known.moves:14,} moves"
        f" {known.seconds:8.0f} s  share {known.use:>16}  {tried if record.seconds else 'not tried'}"
    )


def _find(game: str) -> GameKnowledge:
    from gdl.errors import GdlError
    from ggp.game import Game
    from players.knowledge.store import find

    found = find(Game.load(game).rules)
    if found is None:
        raise GdlError(f"nothing is known of {game}", remedy=f"ggp train {game}")
    return found[1]


def _show(game: str, most: int) -> None:
    import re

    import numpy as np

    from ggp.game import Game
    from players.knowledge.canonical_rules import canonical_names

    known = _find(game)
    rules = Game.load(game).rules
    old = {new: rules.spelling.get(name, name) for name, new in canonical_names(rules).new.items()}

    def spelled(text: str) -> str:
        return re.sub(r"#\d+", lambda match: old.get(match.group(), match.group()), text)

    typer.echo(_line(known))
    if known.tables is not None:
        tuples = known.tables.tuples
        typer.echo(f"besides {len(tuples.shape)} tables over n-tuples, {len(tuples.ordered)} shapes of them")
    for place, column in enumerate(known.columns):
        typer.echo(f"worth to {spelled(column)}, in logits:")
        for row in np.argsort(-np.abs(known.weights[:, place]), kind="stable")[:most].tolist():
            name = "every state" if row == 0 else spelled(known.features[row])
            typer.echo(f"{known.weights[row, place]:+8.3f}  {name}")


def _export(game: str, output: Path | None) -> None:
    from ggp.commands import write

    known = _find(game)
    path = output or Path(f"{known.game}.knowledge")
    write(path, known.to_bytes())
    typer.echo(f"{path}: {_line(known)}")


def _import(path: Path, force: bool) -> None:
    from gdl.errors import GdlError
    from players.knowledge.store import KnowledgeStore, read_file

    known, store = read_file(path), KnowledgeStore()
    before = store.get(known.fingerprint)
    if before is not None and before.moves > known.moves and not force:
        raise GdlError(
            f"what is known of the game was learnt from {before.moves:,} moves, this from {known.moves:,}",
            remedy="--force puts it in its place",
            source=str(path),
        )
    store.put(known)
    typer.echo(_line(known))


def _verify(what: str | None) -> None:
    from gdl.errors import GdlError
    from ggp.complaint import complain
    from players.knowledge.store import KnowledgeStore, read_file

    damaged = 0
    if what is not None:
        typer.echo(_line(read_file(Path(what))))
        return
    store = KnowledgeStore()
    for fingerprint in store.fingerprints():
        try:
            typer.echo(_line(store.read(fingerprint)))
        except GdlError as error:
            complain(error)
            damaged += 1
    if damaged:
        raise typer.Exit(1)
