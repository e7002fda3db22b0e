"""Files with several matches: arrays of records, as ``ggp tournament --json`` writes them, and traces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gdl.errors import GdlError
from gdl.visible import visible
from ggp.web.replay.recorded import RecordError

MOST_MATCHES = 10_000
_LONGEST = 100
_REMEDY = "a record is what ggp host --out writes"


def records_in(text: str) -> list[dict[str, Any]]:
    """The records in a file: one JSON object, an array of them, or a trace, whose lines are JSON objects.
    Raises RecordError where there is none."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = text.splitlines()
        if len(lines) > 1 and '"type"' in lines[0]:
            return _of_trace(lines)
        raise RecordError(f"this is no JSON: {error}", remedy=_REMEDY) from None
    records = told if isinstance(told, list) else [told]
    if not records or not all(isinstance(record, dict) for record in records):
        raise RecordError("this is no JSON object", remedy=_REMEDY)
    if len(records) > MOST_MATCHES:
        raise RecordError(f"the file has {len(records):,} matches, more than {MOST_MATCHES:,}")
    return records


def summary(record: dict[str, Any]) -> dict[str, Any]:
    """What a list of matches shows of one: ``name``, ``game``, ``players``, ``goals``, ``steps``, ``faults``.
    Nothing in it is taken for granted."""

    def items(key: str) -> list[Any]:
        value = record.get(key)
        return value if isinstance(value, list) else []

    rows = [row for row in items("errors") if isinstance(row, list)]
    return {
        "name": _short(record.get("matchId")),
        "game": _short(record.get("game")),
        "players": list(map(_short, items("playerNamesFromHost")[:64])),
        "goals": list(map(_short, items("goalValues")[:64])),
        "steps": len(items("moves")),
        "faults": sum(bool(error) for row in rows for error in row),
    }


def _short(value: object) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return visible(text[:_LONGEST])


def _of_trace(lines: Sequence[str]) -> list[dict[str, Any]]:
    """The matches of a trace (:mod:`ggp.traces.record`), as records. One whose middle was left out ends
    there."""
    try:
        told = [json.loads(line) for line in lines if line.strip()]
    except (ValueError, RecursionError) as error:
        raise RecordError(f"a line of this trace is no JSON: {error}") from None
    head = told[0]
    if not isinstance(head, dict) or head.get("type") != "game":
        raise RecordError("this is neither a match record nor a trace", remedy=_REMEDY)
    playouts: dict[str, list[dict[str, Any]]] = {}
    for line in told[1:]:
        if isinstance(line, dict) and line.get("type") == "step":
            steps = playouts.setdefault(json.dumps(line.get("p")), [])
            if line.get("s") == len(steps):
                steps.append(line)
    try:
        matches = [
            _of_playout(head.get("game"), number, steps) for number, steps in playouts.items() if steps
        ]
    except (TypeError, KeyError):
        raise RecordError("a step of this trace lacks its state or moves") from None
    if not matches:
        raise RecordError("this trace has no steps")
    return matches


def _of_playout(game: object, number: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    last = steps[-1]
    return {
        "matchId": f"{game}, playout {number}",
        "game": game,
        "states": [f"( {' '.join(step['state'])} )" for step in steps],
        "moves": [step["joint"] for step in steps[:-1]],
        "goalValues": last.get("goals") if last.get("terminal") is True else [],
    }


def one_of(records: Sequence[dict[str, Any]], number: int) -> dict[str, Any]:
    """A match by its number, from 1. Raises GdlError where there is none."""
    if not 1 <= number <= len(records):
        raise GdlError(f"the file has no match {number}")
    return records[number - 1]
