"""The questions that tools may ask, with their requests, replies and time limits, and the desk that answers
them.

The schemas are JSON Schema (draft 2020-12), as OpenAPI 3.1 and the Model Context Protocol use them.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from gdl.errors import GdlError
from gdl.json_schema import FLAG, TEXT, Schema, check_json, number, or_null, record, rows, text, whole
from gdl.syntax.notation import FORMS
from ggp.answers.catalogue import MOST_CHARACTERS, SOURCE, checked_source, known_games, known_levels
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError

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
        example: a request.
    """

    summary: str
    request: Schema
    reply: Schema
    seconds: float = 20.0
    streams: bool = False
    example: JsonMessage = field(default_factory=dict)


def _asked(*required: str, **fields: Schema) -> Schema:
    """The schema of a request with these fields, of which only some are required."""
    return {**record(**fields), "required": list(required)}


def _map(values: Schema, description: str = "") -> Schema:
    """The schema of an object with any names."""
    return {"type": "object", "additionalProperties": values, "description": description}


def _about(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


_TEXTS, _COUNT, _SECONDS = rows(TEXT), whole(), {"type": "number"}
_MOVES = rows(text(2000), most=64)
_POSITION = {
    **SOURCE,
    "state": _about(
        text(200_000), "A state to begin with: its true propositions. Without it, the initial state."
    ),
    "moves": _about(
        rows(_MOVES, most=5000), "Joint moves made from there: a move for each role, in role order."
    ),
}
_SEED = whole(0, 2**31)
_LEGAL = _map(_TEXTS, "role -> its legal moves")
_GOALS = _map(or_null(whole(0, 100)), "role -> goal value; null where the rules give none or several")
_STATE = record(roles=_TEXTS, state=_TEXTS, terminal=FLAG, legal=_LEGAL, goals=_GOALS)
_FINDING = record(
    line=_COUNT,
    column=_COUNT,
    length=_COUNT,
    severity={"type": "string", "enum": ["error", "warning", "info"]},
    code=TEXT,
    message=TEXT,
    remedy=TEXT,
    moves=or_null(rows(_TEXTS)),
)
_SPREAD = record(mean=or_null(_SECONDS), counts=_map(_COUNT, "goal value -> playouts"))
_AFTER = {"game": "tictactoe", "moves": [["(mark b 2)", "noop"]]}

OPERATIONS: dict[str, Operation] = {
    "games": Operation(
        "The bundled games and levels, by name", _asked(), record(games=_TEXTS, levels=_TEXTS)
    ),
    "validate": Operation(
        "Check rules: each error with its place and its remedy; optionally by random play, too",
        _asked(**SOURCE, play=_about(FLAG, "Also play at random.")),
        record(
            findings=rows(_FINDING),
            counts=_map(_COUNT),
            notation={"type": "string", "enum": [form.shown for form in FORMS.values()]},
        ),
        seconds=40.0,
        example={"rules": "role(x) legal(x,M)"},
    ),
    "state": Operation(
        "A state, initial or after moves: what is true, whether it is terminal, legal moves and goal values",
        _asked(**_POSITION),
        _STATE,
        example=_AFTER,
    ),
    "legal": Operation(
        "The legal moves of every role in a state",
        _asked(**_POSITION),
        record(legal=_LEGAL),
        example=_AFTER,
    ),
    "next": Operation(
        "The state after one more joint move",
        _asked(
            "joint",
            **_POSITION,
            joint=_about(_MOVES, "In role order a move for each role, or for each with a choice."),
        ),
        _STATE,
        example={**_AFTER, "joint": ["noop", "(mark a 1)"]},
    ),
    "goals": Operation(
        "The goal values of every role in a state",
        _asked(**_POSITION),
        record(goals=_GOALS, terminal=FLAG),
        example=_AFTER,
    ),
    "playouts": Operation(
        "Random matches from a state: goal values and lengths",
        _asked(
            **_POSITION,
            n=_about(whole(1, 100_000), "Number of playouts (default 512)."),
            seed=_about(_SEED, "Random seed of the moves (default 0)."),
        ),
        record(
            playouts=_COUNT,
            cut=_about(_COUNT, "playouts that ended before a terminal state"),
            machine={"type": "string", "enum": ["prover", "propnet"]},
            goals=_map(_SPREAD),
            lengths=record(mean=_SECONDS, shortest=_COUNT, longest=_COUNT),
        ),
        seconds=60.0,
        example={"game": "connectfour", "n": 1000},
    ),
    "solve": Operation(
        "Solve a puzzle, a game of one role: the best line that is found, replayed by the prover",
        _asked(
            **SOURCE,
            seconds=_about(number(0.1, _LONGEST_SOLVE), "Wall time (10)."),
            solver=_about(text(100), "This solver alone; all that fit by default."),
            seed=_about(_SEED, "Random seed (default 0)."),
        ),
        record(
            game=TEXT,
            value=or_null({"type": "integer"}),
            moves=_TEXTS,
            proven=FLAG,
            solver=or_null(TEXT),
            states=_COUNT,
            doubt=TEXT,
            steps=_about(TEXT, "For a level of Sokoban, the solution as LURD."),
            seconds_cpu=_SECONDS,
            seconds_wall=_SECONDS,
        ),
        seconds=180.0,
        streams=True,
        example={"game": "hanoi", "seconds": 20},
    ),
    "verify": Operation(
        "Replay a recorded trace (the JSON lines of ggp playthrough): the first difference from the rules",
        _asked("trace", **SOURCE, trace=_about(text(MOST_CHARACTERS), "JSON objects, one per line.")),
        record(
            fault=_about(or_null(TEXT), "null if everything agrees"),
            states=_about(_COUNT, "number of states compared"),
        ),
        seconds=60.0,
        example={
            "game": "tictactoe",
            "trace": '{"type": "game", "game": "tictactoe", "roles": ["x", "o"]}',
        },
    ),
}
PROGRESS = _asked(
    *("seconds", "states", "value", "length", "proven", "at_work"),
    seconds=_SECONDS,
    states=_COUNT,
    value=or_null({"type": "integer"}),
    length=_COUNT,
    proven=FLAG,
    at_work=_TEXTS,
    moves=_about(_TEXTS, "the line, if it is better than the last one"),
)
"""The progress reports of ``solve``."""


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
            GdlError: there is no such operation, or the request does not follow the schema, cannot be
                answered, or takes too long.
        """
        if name not in OPERATIONS:
            raise GdlError(f"there is no {name[:80]!r} here", remedy=f"there are {', '.join(OPERATIONS)}")
        operation = OPERATIONS[name]
        check_json(fields, operation.request)
        if name == "games":
            return {"games": known_games(), "levels": await asyncio.to_thread(known_levels)}
        request = {"do": name, **_USUAL.get(name, {}), **fields, **checked_source(fields)}
        seconds = operation.seconds + float(request.get("seconds", 0.0))
        if not operation.streams:
            key = sha256(f"{request['game']}\n{request['rules']}".encode("utf-8", "replace")).hexdigest()
            return await self._workers.ask(key, request, seconds=seconds, news=news)
        if self._solving >= _MOST_SOLVING:
            raise BusyError(f"{_MOST_SOLVING} puzzles are being solved")
        self._solving += 1
        key = secrets.token_hex(8)
        try:
            return await self._workers.ask(key, request, seconds=seconds, news=news)
        finally:
            self._solving -= 1
            await self._workers.end(key)

    async def close(self) -> None:
        """End the desk's processes."""
        await self._workers.close()
