"""The ``ggp`` command. Its subcommands are plugins, entry points of ``kaskade.commands``.

Ours are the modules in the folders of :mod:`ggp.commands`. A command is a function whose parameters are the
options (as typer reads them) and whose docstring's first line is the help in the list. Only the commands to
show or run are imported, and nothing heavy before one runs.
"""

from __future__ import annotations

import errno
import importlib
import inspect
import shutil
import sys
from typing import Any

import typer
from typer.core import TyperGroup

import ggp
from gdl.errors import GdlError, StuckError
from ggp.commands import THEMES
from ggp.complaint import complain
from ggp.printing import prepare_streams, show
from ggp.usage import UsageError, bound_numbers, in_our_words
from players.plugins import Plugin, plugins
from propnet.jit.notice import tell_when_compiling

_WIDE = 100
"""Columns from which help is shown in tables."""


_OTHER = "other"
"""The theme of commands that other packages bring."""


def _columns() -> int:
    return shutil.get_terminal_size().columns


def modules() -> dict[str, tuple[str, Plugin]]:
    """Subcommand -> its theme and its plugin, theme by theme. Commands of other packages come last."""
    found = [(_theme(plugin), plugin) for plugin in plugins("commands").values()]
    found.sort(key=lambda one: (*THEMES, _OTHER).index(one[0]))
    return {plugin.name: (theme, plugin) for theme, plugin in found}


def _theme(plugin: Plugin) -> str:
    package, _, theme = plugin.module.rpartition(".")[0].rpartition(".")
    return theme if package == "ggp.commands" and theme in THEMES else _OTHER


def _title(theme: str) -> str:
    folder = importlib.import_module(f"ggp.commands.{theme}")
    return (inspect.getdoc(folder) or theme).partition(":")[0]


class _CommandsByTheme(TyperGroup):
    """Lists the commands under the titles of their themes."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        by_name = modules()
        width = max(map(len, self.commands), default=0)
        for theme in (*THEMES, _OTHER):
            title = "Commands of other packages" if theme == _OTHER else _title(theme)
            rows = [
                (name.ljust(width), command.get_short_help_str())
                for name, command in self.commands.items()
                if by_name[name][0] == theme
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def build(wanted: str | None) -> typer.Typer:
    """The application with the one command ``wanted``, or with all commands if it is not a command."""
    by_name = modules()
    shown = [wanted] if wanted in by_name else list(by_name)
    app = typer.Typer(
        name="ggp",
        cls=_CommandsByTheme,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        # typer's coloured help imports rich's Markdown: too slow for the plain list of commands. Its tables
        # cut words in terminals that are not wide.
        rich_markup_mode="rich" if wanted in by_name and _columns() >= _WIDE else None,
        add_completion=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "max_content_width": 100,
            "terminal_width": min(_columns(), 100),
        },
    )

    @app.callback()
    def top(
        version: bool = typer.Option(
            False, "--version", help="Show the version and exit.", is_eager=True, callback=_show_version
        ),
    ) -> None:
        """General Game Playing: reads the rules of any game in GDL, and plays it."""

    for name in shown:
        function = by_name[name][1].load()
        bound_numbers(function)
        # The whole first line, because click's shortened one ends in dots. Paragraphs without line ends, so
        # that click wraps them for the terminal.
        text = inspect.getdoc(function) or ""
        wrapped = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
        app.command(name, short_help=text.partition("\n")[0], help=wrapped)(function)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        number = ggp.version()
        show(f"ggp {number}" if number else "ggp, not installed: run from a checkout")
        raise typer.Exit


def main() -> None:
    """Entry point of the console script: errors are one readable line on stderr.

    Exit status: 0 success, 1 a negative finding, 2 wrong usage or input, 130 Ctrl-C. A match that cannot go
    on, for a role has no legal move, is a negative finding.
    """
    prepare_streams()
    if sys.stderr.isatty():
        tell_when_compiling(_tell_kernel)
    command_name = next((a for a in sys.argv[1:] if not a.startswith("-")), None)
    try:
        sys.exit(build(command_name)(standalone_mode=False) or 0)
    except GdlError as error:
        complain(error)
        sys.exit(1 if isinstance(error, StuckError) else 2)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            show(error.ctx.get_help())
        else:
            complain(in_our_words(error, command_name, list(modules())))
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away (``ggp ground x | head``): nothing more to say to anyone.
        sys.stderr.close()
        sys.exit(141)
    except MemoryError:
        _fail("out of memory; a smaller --memory limit fails earlier and cleaner")
    except (OSError, RuntimeError) as error:
        if "start new thread" in f"{error} {error.__context__}" or (
            isinstance(error, OSError) and error.errno == errno.EAGAIN
        ):
            _fail("there are no more processes or threads to be had (end some, or raise `ulimit -u`)")
        if not isinstance(error, OSError):
            raise
        _fail(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))


def _tell_kernel(name: str, seconds: float) -> None:
    """Say on stderr which kernel is compiled, once per installation, and how long it took where one waits."""
    if seconds < 0.0:
        show(f"ggp: compiling {name}, only the first time...", end="\r", err=True)
    elif seconds > 1.0:
        show(f"ggp: compiled {name} in {seconds:.1f} s" + " " * 20, err=True)


def _fail(why: str) -> None:
    show(f" {why}", head="ggp:", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
