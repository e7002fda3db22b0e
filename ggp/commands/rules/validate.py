"""``ggp validate``: diagnostics in the way of compilers, of the rules as they stand and as they play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ggp.commands import NotationName, read_rules
from ggp.printing import show

if TYPE_CHECKING:
    from rich.console import Console

    from gdl.checks.diagnostic import Diagnostic, Evidence, Severity
    from gdl.rules import Rules

_SHOWN_MOVES = 12
"""So many joint moves of a match are shown; --json has all."""


def command(
    files: Annotated[
        list[str],
        typer.Argument(help="Rules files, or bundled games; - reads standard input.", metavar="FILE"),
    ],
    play: Annotated[
        bool, typer.Option("--play/--no-play", help="Play at random, and report what goes wrong.")
    ] = True,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="For grounding, and again for playing a game.")
    ] = 10.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per finding, one per line.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    notes: Annotated[bool, typer.Option("--notes", help="Show findings about style, too.")] = False,
    notation: NotationName = "auto",
) -> None:
    """Check rules, play them, and report each fault with its place.

    Errors are rules that cannot be played, or not to the end. Warnings break the language or are probably
    slips. Notes concern style. Errors come first, then warnings. If findings follow from each other, only
    the root is shown. Rules without errors are also played at random; the findings of these matches come
    last: stuck roles, ends without exactly one goal value for each role, matches that do not end, roles that
    cannot win, facts that base and input rules leave out and, in games of hidden information, roles that
    cannot know their legal moves or their goal.

    Exit status: 0 no errors, 1 errors (with --strict: warnings, too), 2 a file could not be read.
    """
    import sys

    from gdl.checks.diagnostic import in_order
    from gdl.checks.run import Severity, check_text
    from gdl.syntax.notation import named_notation
    from ggp.console import new_console
    from players.play_checks import PLAYED_KINDS

    form = named_notation(notation)
    console = new_console(soft_wrap=True)
    fatal = Severity.WARNING if strict else Severity.ERROR
    counts = dict.fromkeys(Severity, 0)
    unreadable = hidden = 0
    for file in files:
        found = read_rules(file)
        if found is None:
            unreadable += 1
            continue
        name, text = found
        rules, diagnostics = check_text(text, name, form)
        if play and rules is not None and not any(d.severity is Severity.ERROR for d in diagnostics):
            quiet = as_json or not sys.stderr.isatty()
            # Last, because these findings may follow from those of the text.
            diagnostics += in_order(_played(rules, name, seconds, quiet))
        for diagnostic in diagnostics:
            counts[diagnostic.severity] += 1
            if as_json:
                _print_json(name, diagnostic)
            elif notes or diagnostic.severity > Severity.INFO or diagnostic.code in PLAYED_KINDS:
                _print(console, name, text, diagnostic)
            else:
                hidden += 1
    if not as_json:
        _print_summary(console, len(files) - unreadable, counts, hidden)
    if unreadable:
        raise typer.Exit(2)
    if any(count for severity, count in counts.items() if severity >= fatal):
        raise typer.Exit(1)


def _played(rules: Rules, name: str, seconds: float, quiet: bool) -> list[Diagnostic]:
    """The findings of random matches. A terminal shows a line meanwhile."""
    from gdl.checks.diagnostic import of_error
    from gdl.errors import GdlError
    from ggp.console import new_console, spinner
    from players.play_checks import Rehearsal, rehearse

    with spinner(new_console(stderr=True, quiet=quiet)) as progress:
        progress.add_task(f"{name}: playing at random")
        try:
            return rehearse(rules, Rehearsal(seconds=seconds))
        except GdlError as fault:
            return [of_error(fault)]


def _print(console: Console, name: str, text: str, diagnostic: Diagnostic) -> None:
    from rich.text import Text

    from gdl.checks.run import Severity
    from gdl.excerpt import excerpt

    style = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
    colour = style[diagnostic.severity]
    place = (f"{name}:{diagnostic.place}: " if diagnostic.place.line else f"{name}: ", "bold")
    kind = (f"{diagnostic.severity}[{diagnostic.code}]", colour)
    console.print(Text.assemble(place, kind, f": {diagnostic.message}"))
    shown = excerpt(text, diagnostic.place, console.width)
    if shown is not None:
        console.print(Text(shown[0]))
        console.print(Text(shown[1], colour))
    if diagnostic.evidence is not None:
        for line in _match(diagnostic.evidence):
            console.print(Text(f"  {line}"))
    if diagnostic.remedy:
        console.print(Text(f"  remedy: {diagnostic.remedy}", "dim"))


def _match(evidence: Evidence) -> list[str]:
    """The match that shows a finding: its moves and its last state."""
    lines = []
    if evidence.moves:
        left_out = max(0, len(evidence.moves) - _SHOWN_MOVES)
        shown = [
            f"{number}. {' '.join(joint)}"
            for number, joint in enumerate(evidence.moves[left_out:], left_out + 1)
        ]
        dots = f"... (--json has the first {left_out:,}) " if left_out else ""
        lines.append(f"moves: {dots}{'  '.join(shown)}")
    return [*lines, f"state: {' '.join(evidence.state) or 'nothing is true'}"]


def _print_json(name: str, diagnostic: Diagnostic) -> None:
    import orjson

    record: dict[str, object] = {
        "file": name,
        "line": diagnostic.place.line,
        "column": diagnostic.place.column,
        "severity": str(diagnostic.severity),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "remedy": diagnostic.remedy,
    }
    if diagnostic.evidence is not None:
        record |= {"moves": diagnostic.evidence.moves, "state": diagnostic.evidence.state}
    show(orjson.dumps(record))


def _print_summary(console: Console, files: int, counts: dict[Severity, int], hidden: int) -> None:
    from gdl.checks.run import Severity
    from gdl.words import counted

    numbers = {
        "file": files,
        "error": counts[Severity.ERROR],
        "warning": counts[Severity.WARNING],
        "note": counts[Severity.INFO],
    }
    hint = f" (--notes shows {'all' if hidden < numbers['note'] else 'them'})" if hidden else ""
    console.print(", ".join(counted(number, what) for what, number in numbers.items()) + hint)
