"""Reads match records: the JSON that game managers publish (written by :mod:`ggp.protocol.match_record`),
arrays of records (written by ``ggp tournament --output FILE.json``), and traces."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gdl.errors import GdlError
from gdl.json_schema import TEXT, Schema, check_json, number, or_null, rows
from gdl.reading import plain
from gdl.syntax.parser import parse_term, parse_terms
from gdl.terms import Term
from gdl.visible import visible

LARGEST = 32 * 1024 * 1024
"""Bytes of one record."""
MOST_BROUGHT_BYTES = 2 * LARGEST
"""Largest JSON body in which a page uploads a record."""
MOST_STATES = 10_000
MOST_ROLES = 64
MOST_PROPOSITIONS = 1_000_000
"""Total propositions of all states."""
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class RecordedMatch:
    """A match as described by its record.

    Attributes:
        name: the match's id.
        game: the name of its game; empty if the record does not have it.
        rules: the rules of its game; empty if the record does not have them.
        players: a name for each role, as far as known.
        startclock, playclock: seconds; 0 if unknown.
        states: for each state its true propositions.
        moves: joint moves; as many as states, or one fewer.
        errors: for each state and role the error in the move before it; ``""`` for none.
        times: for each state the time when it was reached, milliseconds since 1970; empty if unknown.
        goals: final goal values; empty if the match was not completed.
        aborted: whether the manager aborted the match.
        end: why it ended though the rules go on, and who has won; empty if that is unknown.
    """

    name: str
    game: str
    rules: str
    players: tuple[str, ...]
    startclock: float
    playclock: float
    states: tuple[frozenset[Term], ...]
    moves: tuple[tuple[Term, ...], ...]
    errors: tuple[tuple[str, ...], ...]
    times: tuple[int, ...]
    goals: tuple[int, ...]
    aborted: bool
    end: str


_NAME = or_null(TEXT)
_NUMBER = number(-1e15, 1e15)
_SCHEMA: Schema = {
    "type": "object",
    "required": ["states"],
    "properties": {
        "matchId": TEXT,
        "rules": TEXT,
        "playerNamesFromHost": rows(_NAME, most=MOST_ROLES),
        "startClock": _NUMBER,
        "playClock": _NUMBER,
        "states": rows(TEXT, 1, MOST_STATES),
        "moves": rows(rows(TEXT, most=MOST_ROLES), most=MOST_STATES),
        "errors": rows(rows(_NAME, most=MOST_ROLES), most=MOST_STATES + 1),
        "stateTimes": rows(_NUMBER, most=MOST_STATES + 1),
        "goalValues": rows(_NUMBER, most=MOST_ROLES),
        "end": TEXT,
    },
}
"""The public keys that :func:`read_match` reads, without those that are null."""


def read_match(record: dict[str, Any]) -> RecordedMatch:
    """Read a record, given as a JSON object. Raises GdlError, which names the invalid key."""
    if "matchId" not in record or "states" not in record:
        raise GdlError("the record has no matchId and states", remedy="choose a match record")
    fields = {name: value for name, value in record.items() if value is not None}
    check_json(fields, _SCHEMA, "the record")
    states = _states(fields["states"])
    moves = tuple(
        tuple(parse_term(move, f"moves[{i}]") for move in joint)
        for i, joint in enumerate(fields.get("moves", ()))
    )
    if len(moves) not in (len(states) - 1, len(states)):
        raise GdlError(f"{len(moves)} joint moves do not lead to {len(states)} states")
    widths = {len(joint) for joint in moves}
    if len(widths) > 1:
        raise GdlError(f"joint moves of {' and '.join(map(str, sorted(widths)))} roles")
    return RecordedMatch(
        name=_shown_name(fields.get("matchId")),
        game=_game(record),
        rules=fields.get("rules", ""),
        players=tuple(map(_shown_name, fields.get("playerNamesFromHost", ()))),
        startclock=fields.get("startClock", 0),
        playclock=fields.get("playClock", 0),
        states=states,
        moves=moves,
        errors=tuple(tuple(map(_shown_name, row)) for row in fields.get("errors", ())[: len(states)]),
        times=tuple(map(int, fields.get("stateTimes", ()))),
        goals=tuple(map(int, fields.get("goalValues", ()))),
        aborted=record.get("isAborted") is True,
        end=_shown_name(fields.get("end")),
    )


def _shown_name(name: str | None) -> str:
    return visible((name or "")[:_LONGEST_NAME])


def _states(texts: list[str]) -> tuple[frozenset[Term], ...]:
    """States, each written as ``( ( cell 1 1 x ) ( control o ) )``; propositions may be inside ``true``."""
    states = []
    count = 0
    for i, text in enumerate(texts):
        inner = text.strip()
        if not (inner.startswith("(") and inner.endswith(")")):
            raise GdlError(f"states[{i}] is not in parentheses")
        terms = parse_terms(inner[1:-1], f"states[{i}]")
        terms = [term.args[0] if term.name == "true" and len(term.args) == 1 else term for term in terms]
        count += len(terms)
        if count > MOST_PROPOSITIONS:
            raise GdlError(f"the states have more than {MOST_PROPOSITIONS:,} propositions")
        states.append(frozenset(terms))
    return tuple(states)


def _game(record: dict[str, Any]) -> str:
    """The name of the game: from the record, or the end of the address of its rules."""
    game, url = record.get("game"), record.get("gameMetaURL")
    if isinstance(game, str) and game:
        return visible(game[:_LONGEST_NAME])
    if isinstance(url, str) and url:
        parts = [part for part in re.split(r"[/?#]", url) if part]
        parts = [part for part in parts if not re.fullmatch(r"v\d+|games|https?:", part)]
        return parts[-1].removesuffix(".kif")[:_LONGEST_NAME] if parts else ""
    return ""


MOST_MATCHES = 10_000
_LONGEST = 100
_REMEDY = "choose a record written by ggp host --output"


def records_in(text: str) -> list[dict[str, Any]]:
    """The records in a file: one JSON object, an array of them, or a trace, whose lines are JSON objects. An
    array element that is not an object becomes an empty record, so that :func:`read_match` refuses only that
    one. Raises GdlError if there is no record."""
    try:
        data = json.loads(text := plain(text))
    except (ValueError, RecursionError) as error:
        lines = text.split("\n")
        if len(lines) > 1 and '"type"' in lines[0]:
            return _of_trace(lines)
        raise GdlError(f"this is not JSON: {error}", remedy=_REMEDY) from None
    records = data if isinstance(data, list) else [data]
    if not any(isinstance(record, dict) for record in records):
        raise GdlError("this is not a JSON object", remedy=_REMEDY)
    if len(records) > MOST_MATCHES:
        raise GdlError(f"the file has {len(records):,} matches, more than {MOST_MATCHES:,}")
    return [record if isinstance(record, dict) else {} for record in records]


def summary(record: dict[str, Any]) -> dict[str, Any]:
    """The entry of a match in a list: ``name``, ``game``, ``players``, ``goals``, ``steps``, ``faults``.
    Invalid fields of the record raise no error."""

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
    """The matches of a trace (:mod:`ggp.traces`), as records. A match with missing or broken steps
    ends before them."""
    head, *rest = map(_json_object, lines)
    if head.get("type") != "game":
        raise GdlError("this is neither a match record nor a trace", remedy=_REMEDY)
    playouts: dict[str, list[dict[str, Any]]] = {}
    for line in rest:
        if line.get("type") == "step":
            steps = playouts.setdefault(json.dumps(line.get("p")), [])
            state = line.get("state")
            whole = isinstance(state, list) and all(isinstance(fact, str) for fact in state)
            if whole and line.get("s") == len(steps):
                steps.append(line)
    matches = [_of_playout(head.get("game"), number, steps) for number, steps in playouts.items() if steps]
    if not matches:
        raise GdlError("this trace has no steps")
    return matches


def _json_object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _of_playout(game: object, number: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    last = steps[-1]
    return {
        "matchId": f"{game}, playout {number}",
        "game": game,
        "states": [f"( {' '.join(step['state'])} )" for step in steps],
        "moves": [step.get("joint") for step in steps[:-1]],
        "goalValues": last.get("goals") if last.get("terminal") is True else [],
    }


def one_of(records: Sequence[dict[str, Any]], number: int) -> dict[str, Any]:
    """A match by its number, from 1. Raises GdlError if there is none."""
    if not 1 <= number <= len(records):
        raise GdlError(f"the file has no match {number}")
    return records[number - 1]
