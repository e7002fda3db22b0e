"""``ggp games``: the bundled games."""

from __future__ import annotations

from pathlib import Path

import typer

from ggp.printing import show


def command(
    names: list[str] = typer.Argument(
        None,
        metavar="[KIND|GAME]...",
        help="List games of these kinds, or say how these games are played.",
    ),
    as_json: bool = typer.Option(False, "--json", help="One JSON object per game."),
    export: Path | None = typer.Option(
        None, metavar="DIR", help="Write the games to DIR as repositories of other systems have them."
    ),
) -> None:
    """List the bundled games by kind, or say how to play some.

    Shows each game's number of roles, facts of a state, the sizes that vary (`ggp play hex:11`) and its
    description. A kind is a folder of games, such as puzzles. For a name, also of a level or a file, shows
    the title, the players and how to play. Exit status: 1 if a game cannot be read.
    """
    from textwrap import wrap

    import orjson
    from rich.table import Column, Table
    from rich.text import Text

    from gdl.errors import GdlError
    from gdl.syntax.preface import read_preface
    from gdl.syntax.variants import read_sizes
    from gdl.terms import RANDOM
    from ggp.answers.catalogue import folder_of, headline, size_of, title_of
    from ggp.collection import export_game
    from ggp.console import new_console
    from ggp.game import Game
    from ggp.printing import complain
    from ggp.rule_files import installed_games

    bundled = sorted(installed_games(), key=lambda path: (as_json or folder_of(path), path.stem))
    kinds = {*map(folder_of, bundled)}
    described = [name for name in names or () if name not in kinds]
    listed = [path for path in bundled if folder_of(path) in names] if names else bundled
    console = new_console()
    what = Column("what it is", no_wrap=console.is_terminal, overflow="ellipsis")
    table = Table("game", "roles", "facts", "sizes", what, box=None, header_style="bold")
    broken, title_row = False, ""
    for path in (*described, *map(str, listed)):
        try:
            game = Game.load(path)
            if export is not None:
                show(str(export_game(game, export)))
                continue
        except GdlError as error:
            complain(error)
            broken = True
            continue
        heads = [rule.head for rule in game.rules if not rule.body]
        roles = [game.rules.spell(head.args[0]) for head in heads if head.signature == ("role", 1)]
        title = headline(game.text)
        said, _ = read_preface(game.text)
        sizes, _ = read_sizes(game.text)
        played = [role for role in roles if role.lower() != RANDOM.name]
        kind = "" if path in described else folder_of(Path(path))
        if as_json:
            about = {"how": said.how, "kinds": said.kinds, "folder": kind, "varies": sizes}
            show(orjson.dumps({"game": game.name, "roles": roles, "title": title, "path": path, **about}))
        elif described:
            players = ", ".join(played) + " and chance" * (len(played) < len(roles))
            how = said.how or "The rules do not say how to play."
            lines = [f"{title_of(game.text)[0] or game.name}: {', '.join(said.kinds)}".rstrip(": ")]
            lines += [f"Players: {players}", *([f"Sizes: {', '.join(map(str, sizes))}"] if sizes else [])]
            show("\n".join([*lines, "", *wrap(how, 80), ""]))
        else:
            if kind != title_row:
                table.add_row(Text(kind, "bold"), end_section=True)
                title_row = kind
            count = f"{len(played)}, chance" if len(played) < len(roles) else str(len(played))
            limits = "x".join(f"{size.least}..{size.most}" for size in sizes)
            table.add_row(Text(game.name, "cyan"), count, size_of(game.text), limits, title)
    if table.rows:
        console.print(table)
    if broken:
        raise typer.Exit(1)
