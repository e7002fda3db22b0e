"""What is wrong with rules, as JSON: findings with their places."""

from __future__ import annotations

from gdl.checks.diagnostic import Diagnostic
from gdl.checks.run import check_text
from gdl.errors import GdlError
from gdl.excerpt import extent
from gdl.syntax.notation import form_of
from ggp.processes.parent import JsonMessage

PLAY_SECONDS = 10.0
"""For grounding, and again for playing."""
MOST_FINDINGS = 500
"""More are counted, not shown."""


def check(text: str) -> JsonMessage:
    """What the validator finds in the text itself, with lines, columns and extents."""
    return _findings(text, check_text(text)[1])


def rehearse(text: str) -> JsonMessage:
    """The same, and what playing at random shows. Raises GdlError where the rules cannot be read."""
    from gdl.checks.diagnostic import Severity, in_order, of_error
    from players.rehearse import Rehearsal
    from players.rehearse import rehearse as play

    rules, found = check_text(text)
    if rules is None or any(one.severity is Severity.ERROR for one in found):
        return _findings(text, found)
    try:
        found += play(rules, Rehearsal(512, PLAY_SECONDS))
    except GdlError as fault:
        found.append(of_error(fault))
    return _findings(text, in_order(found))


def _findings(text: str, found: list[Diagnostic]) -> JsonMessage:
    lines = text.split("\n")
    shown = []
    for one in found[:MOST_FINDINGS]:
        line, column = one.place.line, one.place.column
        rest = lines[line - 1][column - 1 :] if 0 < line <= len(lines) else ""
        shown.append(
            {
                "line": line,
                "column": column,
                "length": max(1, extent(rest)) if rest else 0,
                "severity": str(one.severity),
                "code": one.code,
                "message": one.message,
                "remedy": one.remedy,
                "moves": None if one.evidence is None else one.evidence.moves,
            }
        )
    counts: dict[str, int] = {}
    for one in found:
        counts[str(one.severity)] = counts.get(str(one.severity), 0) + 1
    return {"findings": shown, "counts": counts, "notation": form_of(text).shown}
