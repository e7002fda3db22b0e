"""``ggp validate``: diagnostics in the way of compilers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggp.commands import read_or_complain

if TYPE_CHECKING:
    from rich.console import Console

    from gdl.checks.run import Diagnostic, Severity


def command(
    files: Annotated[
        list[Path], typer.Argument(help="Rules files; - reads standard input.", metavar="FILE...")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per finding, one per line.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    notes: Annotated[bool, typer.Option("--notes", help="Show findings about style, too.")] = False,
) -> None:
    """Check rules and say what is wrong, where, and what to do.

    Errors are what cannot be played; warnings break the language or are probably slips; notes
    concern style. Exit status: 0 no errors, 1 errors (with --strict: warnings, too), 2 a file
    could not be read.
    """
    from rich.console import Console

    from gdl.checks.run import Severity, check_text
    from gdl.visible import visible

    console = Console(highlight=False, soft_wrap=True)
    fatal = Severity.WARNING if strict else Severity.ERROR
    counts = dict.fromkeys(Severity, 0)
    unreadable = 0
    for path in files:
        if (data := read_or_complain(path)) is None:
            unreadable += 1
            continue
        name = "<stdin>" if str(path) == "-" else visible(str(path))
        for diagnostic in check_text(data.decode("utf-8-sig"), name)[1]:
            counts[diagnostic.severity] += 1
            if as_json:
                _print_json(name, diagnostic)
            elif notes or diagnostic.severity > Severity.INFO:
                _print(console, name, diagnostic)
    if not as_json:
        _print_summary(console, len(files) - unreadable, counts, notes)
    if unreadable:
        raise typer.Exit(2)
    if any(count for severity, count in counts.items() if severity >= fatal):
        raise typer.Exit(1)


def _print(console: Console, name: str, diagnostic: Diagnostic) -> None:
    from rich.text import Text

    from gdl.checks.run import Severity

    style = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
    place = (f"{name}:{diagnostic.place}: ", "bold")
    kind = (f"{diagnostic.severity}[{diagnostic.code}]", style[diagnostic.severity])
    console.print(Text.assemble(place, kind, f": {diagnostic.message}"))
    if diagnostic.remedy:
        console.print(Text(f"  remedy: {diagnostic.remedy}", "dim"))


def _print_json(name: str, diagnostic: Diagnostic) -> None:
    import orjson

    record = {
        "file": name,
        "line": diagnostic.place.line,
        "column": diagnostic.place.column,
        "severity": str(diagnostic.severity),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "remedy": diagnostic.remedy,
    }
    typer.echo(orjson.dumps(record))


def _print_summary(console: Console, files: int, counts: dict[Severity, int], notes: bool) -> None:
    from gdl.checks.run import Severity

    numbers = {
        "file": files,
        "error": counts[Severity.ERROR],
        "warning": counts[Severity.WARNING],
        "note": counts[Severity.INFO],
    }
    hint = " (--notes shows them)" if numbers["note"] and not notes else ""
    console.print(", ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in numbers.items()) + hint)
