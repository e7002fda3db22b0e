"""The ``ggp`` command: imports one subcommand's module, and only when that one is called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Final

import typer

from gdl.errors import GdlError

COMMANDS: Final[dict[str, str]] = {
    "play": "Watch or play a match in the terminal.",
    "solve": "Solve a puzzle: find the best line of moves.",
    "serve": "Answer game managers over HTTP as a player.",
    "host": "Run a match between players over HTTP (a game manager).",
    "tournament": "Run many matches between players, and rate them.",
    "warm": "Compile everything once, so that no match waits for it.",
    "games": "List the games that come along.",
    "validate": "Check rules and say what is wrong, where, and what to do.",
    "format": "Write rules in canonical form, comments kept.",
    "scramble": "Rename all symbols of a game.",
    "playthrough": "Record a random match, state by state.",
    "verify": "Replay recorded traces against a machine.",
    "ground": "Show the ground rules of a game, or their statistics.",
    "propnet": "Show, draw or measure the propositional network of a game.",
    "bench": "Measure random playouts per second.",
}
"""Name -> help. Kept here so that ``ggp --help`` need not import the commands."""


def build(wanted: str | None) -> typer.Typer:
    """The application with one command loaded and the others as names with a help text."""
    app = typer.Typer(
        name="ggp",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        # typer's coloured help imports rich's Markdown: too slow for the plain list of commands.
        rich_markup_mode="rich" if wanted in COMMANDS else None,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def top(
        version: bool = typer.Option(
            False, "--version", help="Show the version and exit.", is_eager=True, callback=_show_version
        ),
    ) -> None:
        """General Game Playing: reads the rules of any game in GDL, and plays it."""

    for name, text in COMMANDS.items():
        function: Callable[..., None]
        if name == wanted:
            function = importlib.import_module(f"ggp.commands.{name}").command
            app.command(name)(function)
        else:
            app.command(name, help=text)(_unloaded)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"ggp {version('kaskade-ggp')}")
        except PackageNotFoundError:
            typer.echo("ggp, not installed: run from a checkout")
        raise typer.Exit


def _unloaded() -> None:
    raise AssertionError("only the command that was asked for can run")


def main() -> None:
    """Entry point of the console script: errors are one readable line on stderr.

    Exit status: 0 success, 1 a negative finding, 2 wrong usage or input, 130 Ctrl-C.
    """
    wanted = next((a for a in sys.argv[1:] if not a.startswith("-")), None)
    try:
        build(wanted)()
    except GdlError as error:
        print(f"ggp: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away (``ggp ground x | head``): nothing more to say to anyone.
        sys.stderr.close()
        sys.exit(141)
    except MemoryError:
        print("ggp: out of memory; a smaller --memory limit fails earlier and cleaner", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"ggp: {error.strerror or error}: {error.filename or ''}".rstrip(": "), file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
