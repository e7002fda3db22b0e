"""``ggp validate``: diagnostics in the way of compilers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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

    console = Console(highlight=False, soft_wrap=True)
    fatal = Severity.WARNING if strict else Severity.ERROR
    counts = dict.fromkeys(Severity, 0)
    unreadable = 0
    for path in files:
        text = _read(path)
        if text is None:
            unreadable += 1
            continue
        name = "<stdin>" if str(path) == "-" else str(path)
        for found in check_text(text, name)[1]:
            counts[found.severity] += 1
            if as_json:
                _print_json(name, found)
            elif notes or found.severity > Severity.INFO:
                _print(console, name, found)
    if not as_json:
        _print_summary(console, len(files) - unreadable, counts, notes)
    if unreadable:
        raise typer.Exit(2)
    if any(count for severity, count in counts.items() if severity >= fatal):
        raise typer.Exit(1)


def _read(path: Path) -> str | None:
    """The text of a file; None, and a line on stderr, where it cannot be read."""
    import sys

    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        typer.echo(f"ggp: {path}: {error.strerror}", err=True)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        typer.echo(f"ggp: {path}:{line}: this is not UTF-8 text (save the file as UTF-8)", err=True)
    return None


def _print(console: Console, name: str, found: Diagnostic) -> None:
    from rich.text import Text

    from gdl.checks.run import Severity

    style = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
    line = Text()
    line.append(f"{name}:{found.place}: ", "bold")
    line.append(f"{found.severity}[{found.code}]", style[found.severity])
    line.append(f": {found.message}")
    console.print(line)
    if found.remedy:
        console.print(Text(f"  remedy: {found.remedy}", "dim"))


def _print_json(name: str, found: Diagnostic) -> None:
    import orjson

    record = {
        "file": name,
        "line": found.place.line,
        "column": found.place.column,
        "severity": str(found.severity),
        "code": found.code,
        "message": found.message,
        "remedy": found.remedy,
    }
    typer.echo(orjson.dumps(record))


def _print_summary(console: Console, files: int, counts: dict[Severity, int], notes: bool) -> None:
    from gdl.checks.run import Severity

    parts = [
        f"{files} file{'s' * (files != 1)}",
        f"{counts[Severity.ERROR]} error{'s' * (counts[Severity.ERROR] != 1)}",
        f"{counts[Severity.WARNING]} warning{'s' * (counts[Severity.WARNING] != 1)}",
        f"{counts[Severity.INFO]} note{'s' * (counts[Severity.INFO] != 1)}",
    ]
    hint = " (--notes shows them)" if counts[Severity.INFO] and not notes else ""
    console.print(", ".join(parts) + hint)
