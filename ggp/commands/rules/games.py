"""``ggp games``: the bundled games."""

from __future__ import annotations

import typer

from ggp.printing import show


def command(
    names: list[str] = typer.Argument(None, metavar="[GAME]...", help="Say how these games are played."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object per game."),
) -> None:
    """List the bundled games, or say how to play some.

    Shows each game's number of roles and its description. For a name, also of a level or a file, shows the
    title, the players and how to play. Exit status: 1 if a game cannot be read.
    """
    from textwrap import wrap

    import orjson
    from rich.table import Table
    from rich.text import Text

    from gdl.errors import GdlError
    from gdl.syntax.preface import read_preface
    from gdl.terms import RANDOM
    from ggp.answers.catalogue import headline, title_of
    from ggp.console import new_console
    from ggp.game import Game
    from ggp.printing import complain
    from ggp.rule_files import installed_games

    table = Table("game", "roles", "what it is", box=None, header_style="bold")
    broken = False
    for path in names or installed_games():
        try:
            game = Game.load(path)
        except GdlError as error:
            complain(error)
            broken = True
            continue
        heads = [rule.head for rule in game.rules if not rule.body]
        roles = [game.rules.spell(head.args[0]) for head in heads if head.signature == ("role", 1)]
        title = headline(game.text)
        said, _ = read_preface(game.text)
        played = [role for role in roles if role.lower() != RANDOM.name]
        if as_json:
            about = {"how": said.how, "kinds": said.kinds}
            show(
                orjson.dumps({"game": game.name, "roles": roles, "title": title, "path": str(path), **about})
            )
        elif names:
            players = ", ".join(played) + " and chance" * (len(played) < len(roles))
            how = said.how or "The rules do not say how to play."
            lines = [f"{title_of(game.text)[0] or game.name}: {', '.join(said.kinds)}".rstrip(": ")]
            show("\n".join([*lines, f"Players: {players}", "", *wrap(how, 80), ""]))
        else:
            count = f"{len(played)}, chance" if len(played) < len(roles) else str(len(played))
            table.add_row(Text(game.name, "cyan"), count, title)
    if not as_json and not names:
        new_console().print(table)
    if broken:
        raise typer.Exit(1)
