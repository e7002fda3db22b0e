"""``ggp knowledge``: what is known of games: listed, shown, carried to other machines, checked, removed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggp.printing import show

if TYPE_CHECKING:
    from players.knowledge.knowledge import GameKnowledge

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
    most: Annotated[int, typer.Option(help="show: so many weights, the largest.", min=1)] = 20,
    force: Annotated[
        bool, typer.Option("--force", help="import: also in place of what searches use, or of more moves.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="list: one JSON object for each line.")] = False,
) -> None:
    """List what was learnt of games by `ggp train`.

    A game has a line for each rung of the ladder that was learnt, what searches use first. show prints what
    weighs most, in the game's own names. export and import carry what searches use to another machine. verify
    reads a file, or all that is kept, and exits with status 1 where one is damaged. remove forgets a game, on
    all rungs.
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
        for known in rungs:
            show(orjson.dumps(_row(known)) if as_json else _line(known))
        if not rungs:
            show(f"{fingerprint[:12]} cannot be used: `ggp knowledge verify` says why", err=True)


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
    from players.knowledge.store import KnowledgeStore

    rungs = KnowledgeStore().rungs(_fingerprint(game))
    if not rungs:
        raise GdlError(f"nothing is known of {game}", remedy=f"ggp train {game}")
    return rungs[0]


def _fingerprint(game: str) -> str:
    """The fingerprint of a game, or that which begins so and of which something is known."""
    import re

    from gdl.errors import GdlError
    from ggp.game import Game
    from players.knowledge.canonical_rules import canonical_names
    from players.knowledge.store import KnowledgeStore

    if re.fullmatch("[0-9a-f]{8,64}", game):
        found = [each for each in KnowledgeStore().all_fingerprints() if each.startswith(game)]
        if len(found) != 1:
            raise GdlError(f"{len(found)} games that something is known of begin with {game}")
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
    show(f"nothing is known of {game} any more")


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

    show(_line(known))
    if known.tables is not None:
        tuples = known.tables.tuples
        show(f"besides {len(tuples.shape)} tables over n-tuples, {len(tuples.ordered)} shapes of them")
    for place, column in enumerate(known.columns):
        show(f"worth to {spelled(column)}, in logits:")
        for row in np.argsort(-np.abs(known.weights[:, place]), kind="stable")[:most].tolist():
            name = "every state" if row == 0 else spelled(known.features[row])
            show(f"{known.weights[row, place]:+8.3f}  {name}")


def _export(game: str, output: Path | None) -> None:
    from ggp.commands import write

    known = _find(game)
    path = output or Path(f"{known.game}.knowledge")
    write(path, known.to_bytes())
    show(f"{path}: {_line(known)}")


def _import(path: Path, force: bool) -> None:
    from gdl.errors import GdlError
    from players.knowledge.store import KnowledgeStore, read_file

    known, store = read_file(path), KnowledgeStore()
    with store.alone(known.fingerprint):
        reason = "" if force else _why_not(store.rungs(known.fingerprint), known)
        if reason:
            raise GdlError(reason, remedy="--force puts it in its place", source=str(path))
        store.use(known)
    show(_line(known))


def _why_not(before: list[GameKnowledge], known: GameKnowledge) -> str:
    """Why knowledge should not take the place of what was known before, rung by rung; empty if it may."""
    used = [each.model for each in before if each.share > 0.0]
    if used and known.share == 0.0:
        return "searches use what is known of the game, and would not use this"
    if used and known.model not in used:
        return f"searches use the rung {used[0]} of this game, and this is of the rung {known.model}"
    moves = max((each.moves for each in before if each.model == known.model), default=0)
    if moves > known.moves:
        return f"what is known of the game was learnt from {moves:,} moves, this from {known.moves:,}"
    return ""


def _verify(what: str | None) -> None:
    from gdl.errors import GdlError
    from ggp.complaint import complain
    from players.knowledge.store import RUNGS, KnowledgeStore, read_file

    if what is not None:
        show(_line(read_file(Path(what))))
        return
    used, damaged = KnowledgeStore(), 0
    for store in (used, *map(used.rung, RUNGS)):
        for fingerprint in store.fingerprints():
            try:
                show(_line(store.read(fingerprint)))
            except GdlError as error:
                complain(error)
                damaged += 1
    if damaged:
        raise typer.Exit(1)
