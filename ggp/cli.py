"""The ``ggp`` command: imports one subcommand's module, and only when that one is called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Final

import typer

from gdl.errors import GdlError

PLAYING: Final = "Play"
RULES: Final = "Rules"
ENGINE: Final = "Engine room"

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "play": (PLAYING, "Watch or play a match in the terminal."),
    "serve": (PLAYING, "Answer game managers over HTTP as a player."),
    "host": (PLAYING, "Run a match between players over HTTP (a game manager)."),
    "games": (PLAYING, "List the games that come along."),
    "validate": (RULES, "Check rules and say what is wrong, where, and what to do."),
    "format": (RULES, "Write rules in canonical form, comments kept."),
    "scramble": (RULES, "Rename all symbols of a game."),
    "playthrough": (RULES, "Record a random match, state by state."),
    "verify": (RULES, "Replay recorded traces against a machine."),
    "ground": (ENGINE, "Show the ground rules of a game, or their statistics."),
    "propnet": (ENGINE, "Show, draw or measure the propositional network of a game."),
    "bench": (ENGINE, "Measure random playouts per second."),
}
"""Name -> (panel, help). Kept here so that ``ggp --help`` need not import the commands."""


def build(wanted: str | None) -> typer.Typer:
    """The application with one command loaded and the others as names with a help text."""
    app = typer.Typer(
        name="ggp",
        help="General Game Playing: reads the rules of any game in GDL, and plays it.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def top(
        version: bool = typer.Option(False, "--version", help="Show the version and exit.", is_eager=True),
    ) -> None:
        if version:
            from importlib.metadata import version as installed

            typer.echo(f"ggp {installed('kaskade-ggp')}")
            raise typer.Exit

    for name, (panel, text) in COMMANDS.items():
        function: Callable[..., None]
        if name == wanted:
            function = importlib.import_module(f"ggp.commands.{name}").command
            app.command(name, rich_help_panel=panel)(function)
        else:
            app.command(name, help=text, rich_help_panel=panel)(_unloaded)
    return app


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
