"""``ggp knowledge``: list, show, export, import, check and remove the knowledge of games."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggp.printing import show

if TYPE_CHECKING:
    from players.knowledge.knowledge import GameKnowledge

_SHOWN = 20
"""Number of largest weights to show."""
_ACTIONS = "list", "show", "export", "import", "verify", "remove"


def command(
    action: Annotated[str, typer.Argument(help="list, show, export, import, verify or remove.")] = "list",
    what: Annotated[
        str | None,
        typer.Argument(
            help="show, export: a game. remove: a game, or the number in its line of the list."
            " import, verify: a file that was exported."
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="export: the file to write.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="import: replace even knowledge that is in use or has more moves.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="list: one JSON object for each line.")] = False,
) -> None:
    """List what `ggp train` has learnt of games.

    A game has a line for each rung of the ladder that was learnt; the rung that searches use comes first.
    show prints the largest weights, in the game's own names. export and import carry the knowledge that
    searches use to another machine. verify reads a file, or all saved knowledge, and exits with status 1 if
    some of it is damaged. remove forgets a game, on all rungs.
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
        _show(what)
    elif action == "remove":
        _remove(what)
    else:
        _export(what, output)


def _list(as_json: bool) -> None:
    import orjson

    from players.knowledge.store import KnowledgeStore

    store = KnowledgeStore()
    for fingerprint in store.all_fingerprints():
        rungs = store.rungs(fingerprint)
        for learnt in rungs:
            show(orjson.dumps(_row(learnt)) if as_json else _line(learnt))
        if not rungs:
            show(f"{fingerprint[:12]} cannot be used: `ggp knowledge verify` says why", err=True)


def _row(learnt: GameKnowledge) -> dict[str, object]:
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
    from players.knowledge.store import KnowledgeStore

    rungs = KnowledgeStore().rungs(_fingerprint(game))
    if not rungs:
        raise GdlError(f"nothing is known of {game}", remedy=f"ggp train {game}")
    return rungs[0]


def _fingerprint(game: str) -> str:
    """The fingerprint of a game, or the one saved fingerprint that begins with this text."""
    import re

    from gdl.errors import GdlError
    from ggp.game import Game
    from players.knowledge.canonical_rules import canonical_names
    from players.knowledge.store import KnowledgeStore

    if re.fullmatch("[0-9a-f]{8,64}", game):
        found = [each for each in KnowledgeStore().all_fingerprints() if each.startswith(game)]
        if len(found) != 1:
            raise GdlError(f"{len(found)} known games have a fingerprint that begins with {game}")
        return found[0]
    return canonical_names(Game.load(game).rules).fingerprint


def _remove(game: str) -> None:
    from gdl.errors import GdlError
    from players.knowledge.store import KnowledgeStore

    store, fingerprint = KnowledgeStore(), _fingerprint(game)
    if fingerprint not in store.all_fingerprints():
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
    for place, column in enumerate(learnt.columns):
        show(f"worth to {spelled(column)}, in logits:")
        for row in np.argsort(-np.abs(learnt.weights[:, place]), kind="stable")[:_SHOWN].tolist():
            name = "every state" if row == 0 else spelled(learnt.features[row])
            show(f"{learnt.weights[row, place]:+8.3f}  {name}")


def _export(game: str, output: Path | None) -> None:
    from ggp.output_file import write_file

    learnt = _find(game)
    path = output or Path(f"{learnt.game}.knowledge")
    write_file(path, learnt.to_bytes())
    show(f"{path}: {_line(learnt)}")


def _import(path: Path, force: bool) -> None:
    from gdl.errors import GdlError
    from players.knowledge.store import KnowledgeStore, read_file

    learnt, store = read_file(path), KnowledgeStore()
    with store.alone(learnt.fingerprint):
        reason = "" if force else _why_not(store.rungs(learnt.fingerprint), learnt)
        if reason:
            raise GdlError(reason, remedy="--force puts it in its place", source=str(path))
        store.use(learnt)
    show(_line(learnt))


def _why_not(before: list[GameKnowledge], learnt: GameKnowledge) -> str:
    """Why new knowledge should not replace that of the rungs before; empty if it may."""
    used = [each.model for each in before if each.share > 0.0]
    if used and learnt.share == 0.0:
        return "searches use what is known of the game, and would not use this"
    if used and learnt.model not in used:
        return f"searches use the rung {used[0]} of this game, and this is of the rung {learnt.model}"
    moves = max((each.moves for each in before if each.model == learnt.model), default=0)
    if moves > learnt.moves:
        return f"what is known of the game was learnt from {moves:,} moves, this from {learnt.moves:,}"
    return ""


def _verify(what: str | None) -> None:
    from gdl.errors import GdlError
    from ggp.printing import complain
    from players.knowledge.knowledge import MODELS
    from players.knowledge.store import KnowledgeStore, read_file

    if what is not None:
        show(_line(read_file(Path(what))))
        return
    used, damaged = KnowledgeStore(), 0
    for store in (used, *map(used.rung, MODELS)):
        for fingerprint in store.fingerprints():
            try:
                show(_line(store.read(fingerprint)))
            except GdlError as error:
                complain(error)
                damaged += 1
    if damaged:
        raise typer.Exit(1)
