"""Three directives for pages of the site that are made when it is built, and so stay true.

``gallery``: our games by kind, each with its board after some moves of its recorded playthrough.
``commands``: every command of ``ggp`` with its options, as its own help has them. ``live FILE``: a packing
puzzle in space, as ``ggp cover --output`` writes it, in a frame that can be turned, with the block's text
below it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from gdl.syntax.preface import read_preface
from gdl.syntax.variants import read_sizes
from ggp.answers.catalogue import folder_of, title_of
from ggp.cli import build
from ggp.game import Game
from ggp.rule_files import installed_games
from ggp.web.choice.card_process import game_picture

BAR = "\\|"
"""A vertical bar in a table."""


class Gallery(SphinxDirective):
    """A section for each kind of games, with a figure for each: its board, title, roles, and how to play."""

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.app.outdir) / "_static" / "games"
        folder.mkdir(parents=True, exist_ok=True)
        kinds: dict[str, list[str]] = {}
        for path in installed_games():
            game = Game.load(path)
            (folder / f"{game.name}.svg").write_text(game_picture(path), encoding="utf-8")
            self.env.note_dependency(str(path))
            roles = ", ".join(game.initial.legal)
            title, line = title_of(game.text)
            sizes = ", ".join(map(str, read_sizes(game.text)[0]))
            how = f"{read_preface(game.text)[0].how}{f' Sizes: {sizes}.' if sizes else ''}"
            kinds.setdefault(folder_of(path), []).append(
                f'<figure><img src="_static/games/{game.name}.svg" alt="" loading="lazy">'
                f"<figcaption><strong>{escape(title)}</strong> ({escape(roles)})<br>{escape(line)}"
                f"<br><code>ggp play {game.name}</code>"
                f"<details><summary>How to play</summary>{escape(how)}</details>"
                "</figcaption></figure>"
            )
        found: list[nodes.Node] = []
        for kind, figures in sorted(kinds.items()):
            title = kind.replace("-", " ").capitalize()
            section = nodes.section("", nodes.title("", title), ids=[f"kind-{kind}"])
            section += nodes.raw("", f'<div class="gallery">{"".join(figures)}</div>', format="html")
            found.append(section)
        return found


class Commands(SphinxDirective):
    """A section for each command: its help, its arguments and options."""

    def run(self) -> list[nodes.Node]:
        group: Any = typer.main.get_command(build(None))
        text = "\n".join(line for name, command in group.commands.items() for line in section(name, command))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class Live(SphinxDirective):
    """A frame with one solution of a packing puzzle, and words below it."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.app.srcdir).parent / self.arguments[0]
        self.env.note_dependency(str(path))
        folder = Path(self.env.app.outdir) / "_static"
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "ggp", "cover", str(path), "--first", "1", "--output"]
        subprocess.run([*command, str(folder / f"{path.stem}.html")], check=True, stdout=subprocess.DEVNULL)
        words = self.parse_content_to_nodes()
        frame = f'<iframe class="live" src="_static/{path.stem}.html" title="{escape(path.stem)}"></iframe>'
        return [nodes.raw("", frame, format="html"), *words]


def section(name: str, command: Any) -> Iterator[str]:
    """The Markdown of one command."""
    context = typer.Context(command, info_name=name)
    usage = " ".join(["ggp", name, *command.collect_usage_pieces(context)])
    yield from (f"## ggp {name}", "", f"`{usage}`", "", _plain(command.help or ""), "")
    yield from ("| argument or option | what it says |", "|---|---|")
    for param in command.params:
        if record := param.get_help_record(context):
            names, told = (" ".join(part.split()) for part in record)
            yield f"| `{names.replace('|', BAR)}` | {_plain(told)} |"
    yield ""


def _plain(text: str) -> str:
    """Help as Markdown that shows the same characters."""
    return (
        text.replace("\\", "\\\\")
        .replace("*", "\\*")
        .replace("|", "\\|")
        .replace("<", "\\<")
        .replace("_", "\\_")
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Add them."""
    app.add_directive("gallery", Gallery)
    app.add_directive("live", Live)
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
