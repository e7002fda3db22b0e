"""Writes games as the repositories of other General Game Playing systems have them: a folder for each game,
with a file ``METADATA`` beside the files that it names.

Its keys are those of ggp-base's repositories: ``gameName``, ``version``, ``rulesheet``, ``description``,
``numRoles``, ``roleNames``. ``infix`` names the rules as Gamemaster reads them, ``image`` the board as SVG.
Readers pass over keys that they do not know.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

import orjson

from gdl.errors import GdlError
from gdl.syntax.format import convert
from gdl.syntax.preface import read_preface
from ggp.answers.catalogue import title_of
from ggp.game import Game
from ggp.output_file import write_file
from ggp.rule_files import installed_game
from ggp.web.choice.card_process import first_picture, game_picture


def export_game(game: Game, directory: Path) -> Path:
    """Write the folder ``games/NAME`` of a game below ``directory``; files of these names are replaced.
    Returns the folder. Raises GdlError if it cannot be written."""
    name = game.name.replace(":", "-")
    said, _ = read_preface(game.text)
    title = title_of(game.text)[0] or name
    path = installed_game(game.name)
    roles = list(map(game.rules.spell, game.machine("prover").roles))
    described = [f"{title} ({', '.join(roles)})", "", *wrap(said.how or "See the rules.", 80), ""]
    files = {
        "rulesheet": (".kif", game.kif),
        "infix": (".hrf", convert(game.kif, "infix", name)),
        "description": (".txt", "\n".join(described)),
        "image": (".svg", first_picture(game, alone=True) if path is None else game_picture(path)),
    }
    about = {
        "gameName": title,
        "version": 0,
        **{key: name + ending for key, (ending, _) in files.items()},
        "numRoles": len(roles),
        "roleNames": roles,
        "kinds": said.kinds,
    }
    folder = directory / "games" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GdlError(f"cannot write {folder}: {error.strerror}", remedy="choose another place") from None
    for ending, text in files.values():
        write_file(folder / f"{name}{ending}", text.encode())
    write_file(folder / "METADATA", orjson.dumps(about, option=orjson.OPT_INDENT_2))
    return folder
