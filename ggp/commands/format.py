"""``ggp format``: canonical layout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    files: Annotated[
        list[Path], typer.Argument(help="Rules files; - reads standard input.", metavar="FILE...")
    ],
    write: Annotated[bool, typer.Option("--write", "-w", help="Change the files themselves.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Only say which files would change.")] = False,
) -> None:
    """Write rules in canonical form, comments kept.

    Prints the result unless --write or --check is given. Exit status: 0 done (--check: all
    files are in canonical form), 1 with --check some file is not, 2 a file could not be read
    or is not GDL.
    """
    import sys

    from gdl.errors import ParseError
    from gdl.syntax.format import format_text

    changed = failed = 0
    for path in files:
        is_stdin = str(path) == "-"
        try:
            data = sys.stdin.buffer.read() if is_stdin else path.read_bytes()
            formatted = format_text(data.decode("utf-8-sig"), str(path)).encode()
        except OSError as error:
            typer.echo(f"ggp: {path}: {error.strerror}", err=True)
            failed += 1
            continue
        except UnicodeDecodeError:
            typer.echo(f"ggp: {path}: this is not UTF-8 text (save the file as UTF-8)", err=True)
            failed += 1
            continue
        except ParseError as error:
            typer.echo(f"ggp: {error}", err=True)
            failed += 1
            continue
        differs = formatted != data
        changed += differs
        if check:
            if differs:
                typer.echo(f"would change {path}")
        elif write and not is_stdin:
            if differs:
                path.write_bytes(formatted)
                typer.echo(f"changed {path}")
        else:
            sys.stdout.buffer.write(formatted)
            sys.stdout.buffer.flush()
    if failed:
        raise typer.Exit(2)
    if check and changed:
        raise typer.Exit(1)
