"""Match records of strangers, read and checked: as game managers publish them, arrays of them, and traces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from gdl.errors import GdlError
from gdl.visible import visible

MAX_BYTES = 16 * 1024 * 1024
"""Of one record, or of one file of them."""
MOST_MATCHES = 10_000
"""In one file."""
MOST_STEPS = 5000
MOST_ROLES = 64
MOST_TEXT = 4 * 1024 * 1024
"""Characters of one state."""
_SHORT, _LONG = 200, 2000
_OUR_ID = re.compile(r"Match\.kaskade\.([\w-]+)\.\d+")


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """A state as a record tells it.

    Attributes:
        state: its propositions, as a run of GDL terms; None where the record has only the moves.
        moves: the joint move that led to it; empty where there is none, as before the first.
        errors: for each role what went wrong on the way to it, ``""`` for nothing.
        time: when it was reached, milliseconds since 1970; 0 where that is not known.
    """

    state: str | None
    moves: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    time: int = 0


@dataclass(frozen=True, slots=True)
class MatchLog:
    """What a record says of a match.

    Attributes:
        id: of the match.
        game: the game's name, if it can be told; else empty.
        players: a name for each role, where there are names.
        clocks: startclock and playclock in words; may be empty.
        outcome: ``completed``, ``aborted`` or ``under way``.
        goals: in role order; empty where they are not known.
    """

    id: str
    game: str
    players: tuple[str, ...]
    clocks: str
    outcome: str
    goals: tuple[int, ...]
    steps: tuple[LoggedStep, ...] = field(repr=False)


def matches_in(data: bytes) -> list[dict[str, Any]]:
    """The records in a file: a JSON object, an array of them, or one JSON object per line, as traces have.
    Raises GdlError where there is none."""
    if len(data) > MAX_BYTES:
        raise GdlError(f"the record is longer than {MAX_BYTES // 1024**2} MB")
    try:
        told = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        lines = [line for line in data.splitlines() if line.strip()]
        if len(lines) < 2:
            raise GdlError(f"this is no JSON: {_line(str(error))}") from None
        try:
            return list(_of_trace([orjson.loads(line) for line in lines[: MOST_STEPS * 4]]))
        except orjson.JSONDecodeError:
            raise GdlError(f"this is no JSON: {_line(str(error))}") from None
    records = told if isinstance(told, list) else [told]
    if not records:
        raise GdlError("this file has no match")
    if len(records) > MOST_MATCHES:
        raise GdlError(f"this file has more than {MOST_MATCHES:,} matches")
    if not all(isinstance(record, dict) for record in records):
        raise GdlError("this is no match record", remedy="a record is a JSON object with states and moves")
    return records


def summary(record: dict[str, Any]) -> dict[str, Any]:
    """What a list of matches shows of one, unchecked apart from lengths: ``id``, ``game``, ``players``,
    ``goals``, ``steps``, ``faults``."""
    errors = record.get("errors")
    rows = errors if isinstance(errors, list) else []
    return {
        "id": _line(record.get("matchId")),
        "game": _line(record.get("game")),
        "players": [_line(name) for name in _list(record, "playerNamesFromHost")[:MOST_ROLES]],
        "goals": [_line(goal) for goal in _list(record, "goalValues")[:MOST_ROLES]],
        "steps": len(_list(record, "moves")),
        "faults": sum(bool(error) for row in rows if isinstance(row, list) for error in row),
    }


def parse_match(record: dict[str, Any]) -> MatchLog:
    """Check a record. Raises GdlError at the first thing that cannot be; what only the page shows, such as
    names and clocks, may be missing."""
    states = _states(record)
    moves = [_row(row, "moves", n) for n, row in enumerate(_list(record, "moves"), 1)]
    if not states and not moves:
        raise GdlError("this record has neither states nor moves", remedy="is it a match record?")
    count = max(len(states), len(moves) + 1)
    if count > MOST_STEPS:
        raise GdlError(f"the match has more than {MOST_STEPS:,} steps")
    if states and len(moves) not in (len(states), len(states) - 1):
        raise GdlError(
            f"the record has {len(states)} states and {len(moves)} joint moves",
            remedy="there is one joint move between two states",
        )
    widths = {len(row) for row in moves if row}
    if len(widths) > 1:
        raise GdlError("its joint moves have different numbers of moves")
    errors = [_row(row, "errors", n) for n, row in enumerate(_list(record, "errors"), 1)][:count]
    times = [t if isinstance(t, int) and 0 <= t < 10**15 else 0 for t in _list(record, "stateTimes")]
    steps = tuple(
        LoggedStep(
            states[n] if n < len(states) else None,
            moves[n - 1] if 0 < n <= len(moves) else (),
            errors[n] if n < len(errors) else (),
            times[n] if n < len(times) else 0,
        )
        for n in range(len(states) or count)
    )
    goals = _list(record, "goalValues")[:MOST_ROLES]
    if not all(isinstance(g, int) and not isinstance(g, bool) and -(10**6) < g < 10**6 for g in goals):
        raise GdlError("goalValues are no numbers")
    clocks = [record.get("startClock"), record.get("playClock")]
    known = all(isinstance(clock, int | float) for clock in clocks)
    outcome = "aborted" if record.get("isAborted") is True else "under way"
    return MatchLog(
        id=_line(record.get("matchId")) or "match",
        game=_game(record),
        players=tuple(_line(name) for name in _list(record, "playerNamesFromHost")[:MOST_ROLES]),
        clocks=f"{clocks[0]} s, then {clocks[1]} s a move" if known else "",
        outcome="completed" if record.get("isCompleted") is True else outcome,
        goals=tuple(goals),
        steps=steps,
    )


def _game(record: dict[str, Any]) -> str:
    """The name of the game, as far as a record tells it."""
    game = record.get("game")
    if isinstance(game, str) and game:
        return _line(game)
    if (match := _OUR_ID.fullmatch(str(record.get("matchId", "")))) is not None:
        return match[1]
    url = record.get("gameMetaURL")
    if isinstance(url, str):
        parts = [part for part in url[:1000].split("/") if part and not re.fullmatch(r"v\d+", part)]
        return _line(parts[-1]) if parts else ""
    return ""


def _states(record: dict[str, Any]) -> list[str]:
    found = _list(record, "states")
    if len(found) > MOST_STEPS:
        raise GdlError(f"the match has more than {MOST_STEPS:,} steps")
    states: list[str] = []
    for number, told in enumerate(found):
        if isinstance(told, list) and all(isinstance(word, str) for word in told):
            text = " ".join(told)
        elif isinstance(told, str):
            text = told.strip()
            if text.startswith("(") and text.endswith(")"):
                text = text[1:-1]
            elif text:
                raise GdlError(f"state {number} is no list of propositions")
        else:
            raise GdlError(f"state {number} is no text")
        if len(text) > MOST_TEXT:
            raise GdlError(f"state {number} is too long")
        states.append(text)
    return states


def _list(record: dict[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise GdlError(f"{key} is no list")
    return value


def _row(row: Any, key: str, number: int) -> tuple[str, ...]:
    """One move or error per role. Raises GdlError."""
    if not isinstance(row, list) or len(row) > MOST_ROLES or not all(isinstance(w, str) for w in row):
        raise GdlError(f"{key} {number}: this is no list of texts, one for each role")
    return tuple(_line(word, _LONG) for word in row)


def _line(value: object, most: int = _SHORT) -> str:
    """Text for people: on one line, and short."""
    text = visible(" ".join(str("" if value is None else value)[: 4 * most].split()))
    return text if len(text) <= most else text[: most - 1] + "…"


def _of_trace(lines: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The matches of a trace, as records. What is left out of the middle of one ends the match there."""
    head = lines[0] if isinstance(lines[0], dict) else {}
    if head.get("type") != "game":
        raise GdlError("this is neither a match record nor a trace")
    playouts: dict[Any, list[dict[str, Any]]] = {}
    for line in lines[1:]:
        if isinstance(line, dict) and line.get("type") == "step":
            steps = playouts.setdefault(str(line.get("p")), [])
            if line.get("s") == len(steps):
                steps.append(line)
    for number, steps in playouts.items():
        last = steps[-1]
        moves = [step.get("joint") for step in steps[:-1]]
        yield {
            "matchId": f"{head.get('game')}, playout {number}",
            "game": head.get("game"),
            "states": [step.get("state") for step in steps],
            "moves": moves,
            "isCompleted": last.get("terminal") is True,
            "goalValues": last.get("goals") if last.get("terminal") is True else [],
        }
    if not playouts:
        raise GdlError("this trace has no steps")
