"""``ggp knowledge``: list, show, export, import and remove the knowledge of games."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggp.printing import show

if TYPE_CHECKING:
    from players.knowledge.knowledge import GameKnowledge

_SHOWN = 20
"""Number of largest weights to show."""
_ACTIONS = "list", "show", "export", "import", "remove"


def command(
    action: Annotated[str, typer.Argument(help="list, show, export, import or remove.")] = "list",
    what: Annotated[
        str | None,
        typer.Argument(
            help="show, export: a game. remove: a game, or the number in its line of the list."
            " import: a file that was exported."
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="export: the file to write.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="import: replace what is known of the game.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="list: one JSON object for each line.")] = False,
) -> None:
    """List what `ggp train` has learnt of games.

    A game has one line; what comes along with bundled games is at the end. list exits with status 1 if a
    file is damaged. show prints the largest weights, in the game's own names. export and import carry
    knowledge to another machine. remove forgets a game.
    """
    from gdl.errors import GdlError

    if action not in _ACTIONS:
        raise GdlError(f"there is nothing to do that is called {action!r}", remedy=", ".join(_ACTIONS))
    if action == "list":
        _list(as_json)
    elif what is None:
        raise GdlError(f"`ggp knowledge {action}` needs a {'file' if action == 'import' else 'game'}")
    elif action == "import":
        _import(Path(what), force)
    elif action == "show":
        _show(what)
    elif action == "remove":
        _remove(what)
    else:
        _export(what, output)


def _list(as_json: bool) -> None:
    from functools import partial

    import orjson

    from gdl.errors import GdlError
    from ggp.printing import complain
    from players.knowledge.store import KnowledgeStore, bundled_files, read_file

    store, damaged = KnowledgeStore(), False
    own = [(partial(store.read, fingerprint), False) for fingerprint in store.fingerprints()]
    for read, along in own + [(partial(read_file, path), True) for path in bundled_files()]:
        try:
            learnt = read()
            row = orjson.dumps(as_row(learnt) | {"bundled": along})
            show(row if as_json else _line(learnt) + ", comes along" * along)
        except GdlError as error:
            complain(error)
            damaged = True
    if damaged:
        raise typer.Exit(1)


def as_row(learnt: GameKnowledge) -> dict[str, object]:
    """Facts about knowledge, for JSON."""
    record = learnt.record
    return {
        "game": learnt.game,
        "fingerprint": learnt.fingerprint,
        "moves": learnt.moves,
        "seconds": round(learnt.seconds, 1),
        "model": learnt.model,
        "features": len(learnt.features),
        "share": learnt.share,
        "looks": learnt.looks,
        "won": record.wins,
        "drawn": record.draws,
        "lost": record.losses,
    }


def _line(learnt: GameKnowledge) -> str:
    record = learnt.record
    tried = f"won {record.wins}, drew {record.draws}, lost {record.losses}"
    return (
        f"{learnt.fingerprint[:12]} {learnt.game:20} {learnt.model:7} {learnt.moves:14,} moves"
        f" {learnt.seconds:8.0f} s  share {learnt.use:>16}  {tried if record.seconds else 'not tried'}"
    )


def _find(game: str) -> GameKnowledge:
    from gdl.errors import GdlError
    from players.knowledge.store import KnowledgeStore, coming_along

    fingerprint = _fingerprint(game)
    learnt = KnowledgeStore().get(fingerprint) or coming_along(fingerprint)
    if learnt is None:
        raise GdlError(f"nothing is known of {game}", remedy=f"ggp train {game}")
    return learnt


def _fingerprint(game: str) -> str:
    """The fingerprint of a game, or the one saved fingerprint that begins with this text."""
    import re

    from gdl.errors import GdlError
    from ggp.game import Game
    from players.knowledge.canonical_rules import canonical_names
    from players.knowledge.store import KnowledgeStore

    if re.fullmatch("[0-9a-f]{8,64}", game):
        found = [each for each in KnowledgeStore().fingerprints() if each.startswith(game)]
        if len(found) != 1:
            raise GdlError(f"{len(found)} known games have a fingerprint that begins with {game}")
        return found[0]
    return canonical_names(Game.load(game).rules).fingerprint


def _remove(game: str) -> None:
    from gdl.errors import GdlError
    from players.knowledge.store import KnowledgeStore

    store, fingerprint = KnowledgeStore(), _fingerprint(game)
    if fingerprint not in store.fingerprints():
        raise GdlError(f"nothing is known of {game}", remedy="ggp knowledge list")
    with store.alone(fingerprint):
        store.remove(fingerprint)
    show(f"{game} is forgotten")


def _show(game: str) -> None:
    import re

    import numpy as np

    from ggp.game import Game
    from players.knowledge.canonical_rules import canonical_names

    learnt = _find(game)
    rules = Game.load(game).rules
    old = {new: rules.spelling.get(name, name) for name, new in canonical_names(rules).new.items()}

    def spelled(text: str) -> str:
        return re.sub(r"#\d+", lambda match: old.get(match.group(), match.group()), text)

    show(_line(learnt))
    if learnt.model == "net":
        show("Searches use the net. Linear weights, learnt before it, say:")
    for place, column in enumerate(learnt.columns):
        show(f"worth to {spelled(column)}, in logits:")
        for row in np.argsort(-np.abs(learnt.weights[:, place]), kind="stable")[:_SHOWN].tolist():
            name = "every state" if row == 0 else spelled(learnt.features[row])
            show(f"{learnt.weights[row, place]:+8.3f}  {name}")


def _export(game: str, output: Path | None) -> None:
    from ggp.output_file import write_file

    learnt = _find(game)
    path = output or Path(f"{learnt.game}.knowledge")
    write_file(path, learnt.carried())
    show(f"{path}: {_line(learnt)}")


def _import(path: Path, force: bool) -> None:
    from gdl.errors import GdlError
    from players.knowledge.store import KnowledgeStore, read_file

    learnt, store = read_file(path), KnowledgeStore()
    with store.alone(learnt.fingerprint):
        before = store.get(learnt.fingerprint)
        if before is not None and not force:
            raise GdlError(
                f"the game is known already, from {before.moves:,} moves; this file is from {learnt.moves:,}",
                remedy="--force puts it in its place",
                source=str(path),
            )
        store.put(learnt)
    show(_line(learnt))
