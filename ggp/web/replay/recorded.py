"""Reads match records: the JSON that game managers publish (:mod:`ggp.protocol.match_record` writes it),
arrays of records, as ``ggp tournament --json`` writes them, and traces."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gdl.errors import GdlError
from gdl.reading import plain
from gdl.syntax.parser import parse_term, parse_terms
from gdl.terms import Term
from gdl.visible import visible

MOST_STATES = 10_000
MOST_ROLES = 64
MOST_PROPOSITIONS = 1_000_000
"""Of all states together."""
_LONGEST_NAME = 200


class RecordError(GdlError):
    """A record cannot be read; the message says where."""


@dataclass(frozen=True, slots=True)
class RecordedMatch:
    """A match as its record tells it.

    Attributes:
        name: the match's id.
        game: the name of its game; empty where the record does not say.
        rules: those of its game; empty where the record does not say.
        players: a name for each role, as far as known.
        startclock, playclock: seconds; 0 where unknown.
        states: for each state its true propositions.
        moves: joint moves; as many as states, or one fewer.
        errors: for each state and role what went wrong on the way to it; ``""`` nothing.
        times: for each state when it was reached, milliseconds since 1970; empty where unknown.
        goals: final goal values; empty where the match was not completed.
        aborted: whether the manager gave it up.
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


def read_match(told: dict[str, Any]) -> RecordedMatch:
    """Read a record, given as the object that its JSON is. Raises RecordError, naming the key at fault."""
    if "matchId" not in told or "states" not in told:
        raise RecordError("the record has no matchId and states", remedy="it is no match record")
    texts = _list(told, "states", MOST_STATES)
    if not texts:
        raise RecordError("states is empty: the match never began")
    states = _states(texts)
    moves = tuple(
        tuple(_term(move, f"moves[{i}]") for move in _items(joint, f"moves[{i}]", MOST_ROLES))
        for i, joint in enumerate(_list(told, "moves", MOST_STATES))
    )
    if len(moves) not in (len(states) - 1, len(states)):
        raise RecordError(f"{len(moves)} joint moves do not lead to {len(states)} states")
    widths = {len(joint) for joint in moves}
    if len(widths) > 1:
        raise RecordError(f"joint moves of {' and '.join(map(str, sorted(widths)))} roles")
    name = _text(told["matchId"], "matchId")
    return RecordedMatch(
        name=name,
        game=_game(told),
        rules=_rules(told),
        players=tuple(
            _text(player, "playerNamesFromHost") for player in _list(told, "playerNamesFromHost", MOST_ROLES)
        ),
        startclock=_number(told, "startClock"),
        playclock=_number(told, "playClock"),
        states=states,
        moves=moves,
        errors=tuple(
            tuple(_text(error, f"errors[{i}]") for error in _items(row, f"errors[{i}]", MOST_ROLES))
            for i, row in enumerate(_list(told, "errors", MOST_STATES + 1)[: len(states)])
        ),
        times=tuple(int(_finite(time, "stateTimes")) for time in _list(told, "stateTimes", MOST_STATES + 1)),
        goals=tuple(int(_finite(goal, "goalValues")) for goal in _list(told, "goalValues", MOST_ROLES)),
        aborted=told.get("isAborted") is True,
    )


def _states(texts: list[Any]) -> tuple[frozenset[Term], ...]:
    """States from ``( ( cell 1 1 x ) ( control o ) )`` each; those between ``true ( ... )`` too."""
    states = []
    count = 0
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise RecordError(f"states[{i}] is no text")
        inner = text.strip()
        if not (inner.startswith("(") and inner.endswith(")")):
            raise RecordError(f"states[{i}] is not in parentheses")
        try:
            terms = parse_terms(inner[1:-1], f"states[{i}]")
        except GdlError as error:
            raise RecordError(str(error)) from None
        terms = [term.args[0] if term.name == "true" and len(term.args) == 1 else term for term in terms]
        count += len(terms)
        if count > MOST_PROPOSITIONS:
            raise RecordError(f"the states have more than {MOST_PROPOSITIONS:,} propositions")
        states.append(frozenset(terms))
    return tuple(states)


def _rules(told: dict[str, Any]) -> str:
    rules = told.get("rules", "")
    if not isinstance(rules, str):
        raise RecordError("rules is no text")
    return rules


def _game(told: dict[str, Any]) -> str:
    """What the game is called: as the record says, or the end of the address of its rules."""
    game, url = told.get("game"), told.get("gameMetaURL")
    if isinstance(game, str) and game:
        return visible(game[:_LONGEST_NAME])
    if isinstance(url, str) and url:
        parts = [part for part in re.split(r"[/?#]", url) if part]
        parts = [part for part in parts if not re.fullmatch(r"v\d+|games|https?:", part)]
        return parts[-1].removesuffix(".kif")[:_LONGEST_NAME] if parts else ""
    return ""


def _term(value: object, where: str) -> Term:
    if not isinstance(value, str):
        raise RecordError(f"{where} has a move that is no text")
    try:
        return parse_term(value, where)
    except GdlError as error:
        raise RecordError(str(error)) from None


def _list(told: dict[str, Any], name: str, most: int) -> list[Any]:
    value = told.get(name)
    return [] if value is None else _items(value, name, most)


def _items(value: object, where: str, most: int) -> list[Any]:
    if not isinstance(value, list):
        raise RecordError(f"{where} is no list")
    if len(value) > most:
        raise RecordError(f"{where} has {len(value):,} entries, more than {most:,}")
    return value


def _text(value: object, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RecordError(f"{where} is no text")
    return visible(value[:_LONGEST_NAME])


def _number(told: dict[str, Any], name: str) -> float:
    return _finite(told.get(name, 0), name)


def _finite(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        raise RecordError(f"{where} has {str(value)[:40]!r}, which is no number")
    return value


MOST_MATCHES = 10_000
_LONGEST = 100
_REMEDY = "a record is what ggp host --out writes"


def records_in(text: str) -> list[dict[str, Any]]:
    """The records in a file: one JSON object, an array of them, or a trace, whose lines are JSON objects. One
    that is broken is empty, so that :func:`read_match` refuses it alone. Raises RecordError where there is
    none."""
    try:
        told = json.loads(text := plain(text))
    except (ValueError, RecursionError) as error:
        lines = text.split("\n")
        if len(lines) > 1 and '"type"' in lines[0]:
            return _of_trace(lines)
        raise RecordError(f"this is no JSON: {error}", remedy=_REMEDY) from None
    records = told if isinstance(told, list) else [told]
    if not any(isinstance(record, dict) for record in records):
        raise RecordError("this is no JSON object", remedy=_REMEDY)
    if len(records) > MOST_MATCHES:
        raise RecordError(f"the file has {len(records):,} matches, more than {MOST_MATCHES:,}")
    return [record if isinstance(record, dict) else {} for record in records]


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
    """The matches of a trace (:mod:`ggp.traces.record`), as records. One whose middle was left out, or is
    broken, ends there."""
    head, *told = map(_json_object, lines)
    if head.get("type") != "game":
        raise RecordError("this is neither a match record nor a trace", remedy=_REMEDY)
    playouts: dict[str, list[dict[str, Any]]] = {}
    for line in told:
        if line.get("type") == "step":
            steps = playouts.setdefault(json.dumps(line.get("p")), [])
            state = line.get("state")
            whole = isinstance(state, list) and all(isinstance(fact, str) for fact in state)
            if whole and line.get("s") == len(steps):
                steps.append(line)
    matches = [_of_playout(head.get("game"), number, steps) for number, steps in playouts.items() if steps]
    if not matches:
        raise RecordError("this trace has no steps")
    return matches


def _json_object(line: str) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


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
    """A match by its number, from 1. Raises GdlError where there is none."""
    if not 1 <= number <= len(records):
        raise GdlError(f"the file has no match {number}")
    return records[number - 1]
