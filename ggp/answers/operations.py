"""The questions that tools may ask, with their requests, replies and time limits, and the desk that answers
them.

The schemas are JSON Schema (draft 2020-12), as OpenAPI 3.1 and the Model Context Protocol use them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from gdl.json_schema import Schema, check_json
from gdl.syntax.notation import FORMS
from ggp.answers.catalogue import MOST_CHARACTERS, SOURCE, checked_source
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError

MOST_MOVES = 5000
MOST_PLAYOUTS = 100_000
_LONGEST_SOLVE = 600.0


@dataclass(frozen=True, slots=True)
class Operation:
    """One question.

    Attributes:
        summary: a line that describes the answer.
        request: schema of the request.
        reply: schema of the answer.
        seconds: the time limit; ``seconds`` of the request are added to it.
        streams: whether it reports progress.
    """

    summary: str
    request: Schema
    reply: Schema
    seconds: float = 20.0
    streams: bool = False


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> Schema:
    required = [name for name in properties if name not in optional]
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _text(description: str, longest: int = 2000) -> Schema:
    return {"type": "string", "description": description, "maxLength": longest}


def _whole(description: str, least: float, most: float) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, "description": description}


_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_POSITION = {
    **SOURCE,
    "state": _text("A state to begin with: its true propositions. Without it, the initial state.", 200_000),
    "moves": {
        "type": "array",
        "maxItems": MOST_MOVES,
        "items": {"type": "array", "maxItems": 64, "items": {"type": "string", "maxLength": 2000}},
        "description": "Joint moves made from there: a move for each role, in role order.",
    },
}
_LEGAL: Schema = {"type": "object", "additionalProperties": _TEXTS, "description": "role -> its legal moves"}
_GOALS: Schema = {
    "type": "object",
    "additionalProperties": {"type": ["integer", "null"], "minimum": 0, "maximum": 100},
    "description": "role -> goal value; null where the rules give none or several",
}
_STATE = {"roles": _TEXTS, "state": _TEXTS, "terminal": {"type": "boolean"}, "legal": _LEGAL, "goals": _GOALS}
_FINDING = _object(
    {
        "line": _COUNT,
        "column": _COUNT,
        "length": _COUNT,
        "severity": {"type": "string", "enum": ["error", "warning", "info"]},
        "code": {"type": "string"},
        "message": {"type": "string"},
        "remedy": {"type": "string"},
        "moves": {"type": ["array", "null"], "items": _TEXTS},
    }
)
_SPREAD = _object(
    {
        "mean": {"type": ["number", "null"]},
        "counts": {"type": "object", "additionalProperties": _COUNT, "description": "goal value -> playouts"},
    }
)

OPERATIONS: dict[str, Operation] = {
    "validate": Operation(
        "Check rules: each error with its place and its remedy; optionally by random play, too",
        _object(
            {**SOURCE, "play": {"type": "boolean", "description": "Also play at random."}},
            ("game", "rules", "play"),
        ),
        _object(
            {
                "findings": {"type": "array", "items": _FINDING},
                "counts": {"type": "object", "additionalProperties": _COUNT},
                "notation": {"type": "string", "enum": [form.shown for form in FORMS.values()]},
            }
        ),
        seconds=40.0,
    ),
    "state": Operation(
        "A state, initial or after moves: what is true, whether it is terminal, legal moves and goal values",
        _object(_POSITION, tuple(_POSITION)),
        _object(_STATE),
    ),
    "legal": Operation(
        "The legal moves of every role in a state",
        _object(_POSITION, tuple(_POSITION)),
        _object({"legal": _LEGAL}),
    ),
    "next": Operation(
        "The state after one more joint move",
        _object(
            {
                **_POSITION,
                "joint": {
                    "type": "array",
                    "maxItems": 64,
                    "items": {"type": "string", "maxLength": 2000},
                    "description": "In role order a move for each role, or for each with a choice.",
                },
            },
            tuple(_POSITION),
        ),
        _object(_STATE),
    ),
    "goals": Operation(
        "The goal values of every role in a state",
        _object(_POSITION, tuple(_POSITION)),
        _object({"goals": _GOALS, "terminal": {"type": "boolean"}}),
    ),
    "playouts": Operation(
        "Random matches from a state: goal values and lengths",
        _object(
            {
                **_POSITION,
                "n": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST_PLAYOUTS,
                    "description": "Number of playouts (default 512).",
                },
                "seed": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 2**31,
                    "description": "Random seed of the moves (default 0).",
                },
            },
            (*_POSITION, "n", "seed"),
        ),
        _object(
            {
                "playouts": _COUNT,
                "cut": {**_COUNT, "description": "playouts that ended before a terminal state"},
                "machine": {"type": "string", "enum": ["prover", "propnet"]},
                "goals": {"type": "object", "additionalProperties": _SPREAD},
                "lengths": _object({"mean": _NUMBER, "shortest": _COUNT, "longest": _COUNT}),
            }
        ),
        seconds=60.0,
    ),
    "solve": Operation(
        "Solve a puzzle, a game of one role: the best line that is found, replayed by the prover",
        _object(
            {
                **SOURCE,
                "seconds": {**_whole("Wall time (10).", 0.1, _LONGEST_SOLVE), "type": "number"},
                "solver": _text("This solver alone; all that fit by default.", 100),
                "seed": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 2**31,
                    "description": "Random seed (default 0).",
                },
            },
            ("game", "rules", "seconds", "solver", "seed"),
        ),
        _object(
            {
                "game": {"type": "string"},
                "value": {"type": ["integer", "null"]},
                "moves": _TEXTS,
                "proven": {"type": "boolean"},
                "solver": {"type": ["string", "null"]},
                "states": _COUNT,
                "doubt": {"type": "string"},
                "steps": {"type": "string", "description": "For a level of Sokoban, the solution as LURD."},
                "seconds_cpu": _NUMBER,
                "seconds_wall": _NUMBER,
            }
        ),
        seconds=180.0,
        streams=True,
    ),
    "verify": Operation(
        "Replay a recorded trace (the JSON lines of ggp playthrough): the first difference from the rules",
        _object(
            {**SOURCE, "trace": _text("JSON objects, one per line.", MOST_CHARACTERS)}, ("game", "rules")
        ),
        _object(
            {
                "fault": {"type": ["string", "null"], "description": "null if everything agrees"},
                "states": {**_COUNT, "description": "number of states compared"},
            }
        ),
        seconds=60.0,
    ),
}
PROGRESS: Schema = _object(
    {
        "seconds": _NUMBER,
        "states": _COUNT,
        "value": {"type": ["integer", "null"]},
        "length": _COUNT,
        "proven": {"type": "boolean"},
        "at_work": _TEXTS,
        "moves": {**_TEXTS, "description": "the line, if it is better than the last one"},
    },
    ("moves",),
)
"""The progress reports of ``solve``."""

GAMES: Schema = _object({"games": _TEXTS, "levels": _TEXTS})
"""The names of the bundled games and levels."""


WORK = WorkKind("ggp.answers.answer_process", "the question", most=6, need=WorkNeed(memory=384 * 1024**2))
_MOST_SOLVING = 3
"""Puzzles solved at the same time."""
_USUAL: dict[str, JsonMessage] = {"solve": {"seconds": 10.0, "solver": "", "seed": 0}}


class QuestionDesk:
    """Answers questions, within a budget. Use it within one event loop."""

    def __init__(self, budget: WorkBudget) -> None:
        self._workers = Workers(WORK, budget)
        self._solving = 0

    async def ask(
        self, name: str, fields: dict[str, Any], news: Callable[[JsonMessage], object] = lambda message: None
    ) -> JsonMessage:
        """The answer to one of :data:`~ggp.answers.operations.OPERATIONS`.

        Args:
            name: of the operation.
            fields: the request.
            news: called with each progress report before the answer.

        Raises:
            BusyError: there is too much to do.
            GdlError: the request does not follow the schema, cannot be answered, or takes too long.
        """
        operation = OPERATIONS[name]
        check_json(fields, operation.request)
        request = {"do": name, **_USUAL.get(name, {}), **fields, **checked_source(fields)}
        seconds = operation.seconds + float(request.get("seconds", 0.0))
        if not operation.streams:
            key = sha256(f"{request['game']}\n{request['rules']}".encode("utf-8", "replace")).hexdigest()
            return _bare(await self._workers.ask(key, request, seconds=seconds, news=news))
        if self._solving >= _MOST_SOLVING:
            raise BusyError(f"{_MOST_SOLVING} puzzles are being solved")
        self._solving += 1
        key = secrets.token_hex(8)
        try:
            return _bare(await self._workers.ask(key, request, seconds=seconds, news=news))
        finally:
            self._solving -= 1
            await self._workers.end(key)

    async def close(self) -> None:
        """End the desk's processes."""
        await self._workers.close()


def _bare(answer: JsonMessage) -> JsonMessage:
    return {name: value for name, value in answer.items() if name != "kind"}
