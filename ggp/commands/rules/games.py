"""``ggp games``: the bundled games."""

from __future__ import annotations

import typer

from ggp.printing import show


def command(as_json: bool = typer.Option(False, "--json", help="One JSON object per game.")) -> None:
    """List the bundled games.

    Shows each game's number of roles and its description. Exit status: 1 if a game cannot be read.
    """
    import orjson
    from rich.table import Table
    from rich.text import Text

    from gdl.errors import GdlError
    from gdl.terms import RANDOM
    from ggp.answers.catalogue import headline
    from ggp.console import new_console
    from ggp.game import Game
    from ggp.printing import complain
    from ggp.rule_files import installed_games

    table = Table("game", "roles", "what it is", box=None, header_style="bold")
    broken = False
    for path in installed_games():
        try:
            game = Game.load(path)
        except GdlError as error:
            complain(error)
            broken = True
            continue
        heads = [rule.head for rule in game.rules if not rule.body]
        roles = [game.rules.spell(head.args[0]) for head in heads if head.signature == ("role", 1)]
        title = headline(game.text)
        if as_json:
            show(orjson.dumps({"game": game.name, "roles": roles, "title": title, "path": str(path)}))
        else:
            played = [role for role in roles if role.lower() != RANDOM.name]
            count = f"{len(played)}, chance" if len(played) < len(roles) else str(len(played))
            table.add_row(Text(game.name, "cyan"), count, title)
    if not as_json:
        new_console().print(table)
    if broken:
        raise typer.Exit(1)
