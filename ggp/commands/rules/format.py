"""``ggp format``: rules in canonical layout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ggp.commands import NotationName, read_or_complain
from ggp.output_file import write_file
from ggp.printing import complain, show


def command(
    files: Annotated[
        list[str],
        typer.Argument(help="Rules files or bundled games; - reads stdin.", metavar="FILE"),
    ],
    write: Annotated[bool, typer.Option("--write", "-w", help="Change the files themselves.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Only say which files would change.")] = False,
    to: Annotated[str, typer.Option("--to", help="kif, infix or prolog; as they are by default.")] = "",
    notation: NotationName = "auto",
) -> None:
    """Write rules in canonical form, or in another notation.

    Prints the result unless --write or --check is given. Exit status: 0 done (--check: all
    files are in canonical form), 1 with --check some file is not, 2 a file could not be read
    or is not GDL. Lines of the result end in LF, its encoding is UTF-8.
    """
    from gdl.errors import GdlError
    from gdl.reading import text_of
    from gdl.syntax.format import convert
    from gdl.syntax.notation import named_notation
    from gdl.visible import visible
    from ggp.rule_files import find_rules_file, generated_rules

    given, target = named_notation(notation), named_notation(to or "auto")
    changed = failed = 0
    for name in files:
        try:
            # Bundled games are shown and never changed.
            made = None if write else generated_rules(name)
            path = Path(name) if made or write or name == "-" else find_rules_file(name)
            if (data := made[1].encode() if made else read_or_complain(path)) is None:
                failed += 1
                continue
            formatted = convert(text_of(data), target, str(path), given).encode()
        except GdlError as error:
            complain(error)
            failed += 1
            continue
        differs = formatted != data
        changed += differs
        if check:
            if differs:
                show(f"would change {path}")
        elif write and str(path) != "-":
            if differs:
                write_file(path, formatted)
                show(f"changed {path}")
        else:
            # Comments may hold anything: files get it unchanged, terminals get it escaped.
            if sys.stdout.isatty():
                formatted = visible(formatted.decode(), keep="\n\t").encode()
            sys.stdout.buffer.write(formatted)
            sys.stdout.buffer.flush()
    if failed:
        raise typer.Exit(2)
    if check and changed:
        raise typer.Exit(1)
