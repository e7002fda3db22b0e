"""The ``ggp`` command. Its subcommands are plugins, entry points of ``kaskade.commands``.

Ours are the modules in the folders of :mod:`ggp.commands`. A command is a function whose parameters are the
options (as typer reads them) and whose docstring's first line is the help in the list. Only the commands to
show or run are imported, and nothing heavy before one runs. Errors in the use of the command line have our
own words, each with a remedy.
"""

from __future__ import annotations

import errno
import importlib
import inspect
import math
import shutil
import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, get_args, get_type_hints

import typer
from typer.core import TyperGroup
from typer.models import ParameterInfo

import ggp
from gdl.errors import GdlError, StuckError
from ggp.commands import THEMES
from ggp.printing import complain, prepare_streams, show
from players.plugins import Plugin, plugins
from propnet.jit.notice import tell_when_compiling

_MOST_PROCESSES = 1024
_COUNTERS = ("workers", "jobs", "processes")
_MOST = {int: 10**12, float: 366.0 * 24 * 3600}
"""Where an option does not say: a count that no computer reaches, a year in seconds."""
_SEED = 2**63
_UsageError: Any = typer.BadParameter.__mro__[1]
"""The base class of typer's errors; typer does not export it."""


def _bound_numbers(function: Callable[..., None]) -> None:
    """Have each number among the options of a command read by one type: finite, and from the least to the
    largest value, which its help shows."""
    defaults = inspect.signature(function).parameters
    # As objects: texts would make new options each time they are read.
    function.__annotations__ = get_type_hints(function, include_extras=True)
    for name, hint in function.__annotations__.items():
        kind, info = hint, defaults[name].default if name in defaults else None
        if hasattr(hint, "__metadata__"):  # Annotated
            kind, info = get_args(hint)[:2]
        kinds = {int, float} & {kind, *get_args(kind)}
        if kinds and isinstance(info, ParameterInfo) and info.parser is None:
            _bound(name, info, kinds.pop())


def _bound(name: str, info: ParameterInfo, kind: type[int] | type[float]) -> None:
    option = f"--{name.replace('_', '-')}"
    least: float = -_SEED if info.min is None else info.min
    most = info.max
    if most is None:
        most = _MOST_PROCESSES if name in _COUNTERS else _SEED - 1 if name == "seed" else _MOST[kind]
    form = "d" if kind is int else ".10g"

    def read(text: Any) -> float:
        try:
            value = kind(text)
        except (ValueError, OverflowError):
            value = math.nan
        if not least <= value <= most:
            what = f"a {'whole ' if kind is int else ''}number from {least:{form}} to {most:{form}}"
            raise GdlError(f"{option} must be {what}, not {str(text)[:40]!r}")
        return value

    if name != "seed" and (info.min is not None or info.max is not None):
        largest = "" if info.max is None else f" to {most:{form}}"
        info.help = f"{info.help or ''} [from {least:{form}}{largest}]"
    info.metavar = info.metavar or ("INTEGER" if kind is int else "NUMBER")
    info.min = info.max = None
    info.parser = read


def _in_our_words(error: Any, command: str | None, commands: list[str]) -> GdlError:
    """The error that describes a fault on the command line, from the one that typer raises."""
    remedy = f"see `ggp {command} --help`" if command in commands else "see `ggp --help`"
    text = str(error.message)
    match type(error).__name__:
        case "MissingParameter":
            names = sorted(error.param.opts, key=len)
            name = names[-1] if names[-1].startswith("-") else names[-1].upper()
            return GdlError(f"{name} is missing", remedy=remedy)
        case "NoSuchOption":
            near = list(error.possibilities or ())
            meant = f"did you mean {' or '.join(near)}?" if near else remedy
            return GdlError(f"there is no option {error.option_name}", remedy=meant)
        case "BadOptionUsage":
            needs = "needs a value" if "require" in text else "takes no value"
            return GdlError(f"{error.option_name} {needs}", remedy=remedy)
    if command is not None and command not in commands:
        near = get_close_matches(command, commands)
        return GdlError(
            f"there is no command {command!r}", remedy=f"did you mean {near[0]}?" if near else remedy
        )
    words = text.partition("(")[2].rpartition("(")[2].rstrip(") ") if "(" in text else ""
    return GdlError(f"more words than arguments: {words}" if words else "this cannot be read", remedy=remedy)


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
        _bound_numbers(function)
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
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            show(error.ctx.get_help())
        else:
            complain(_in_our_words(error, command_name, list(modules())))
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
