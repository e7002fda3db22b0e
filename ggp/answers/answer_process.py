"""The process that answers questions about one game at a time, within limits."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import orjson

from gdl.checks.diagnostic import Diagnostic
from gdl.checks.run import check_text
from gdl.errors import GdlError, TooLargeError
from gdl.excerpt import extent
from gdl.machine import Machine, State
from gdl.reading import plain
from gdl.syntax.notation import form_of
from gdl.syntax.parser import parse_terms
from ggp.answers.catalogue import load_source
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send, answer_requests

_PLAY_SECONDS = 10.0
"""Seconds for grounding, and again for playing."""
MOST_FINDINGS = 500
"""The most findings shown; further ones are only counted."""


def check(text: str) -> JsonMessage:
    """The validator's findings in the text itself, with lines, columns and extents."""
    return _findings(text, check_text(text)[1])


def rehearse(text: str) -> JsonMessage:
    """The validator's findings, and those of random play. Raises GdlError if the rules cannot be read."""
    from gdl.checks.diagnostic import Severity, in_order, of_error
    from players.play_checks import Rehearsal
    from players.play_checks import rehearse as play

    rules, found = check_text(text)
    if rules is None or any(one.severity is Severity.ERROR for one in found):
        return _findings(text, found)
    try:
        found += in_order(play(rules, Rehearsal(512, _PLAY_SECONDS)))
    except GdlError as fault:
        found.append(of_error(fault))
    return _findings(text, found)


def _findings(text: str, found: list[Diagnostic]) -> JsonMessage:
    lines = plain(text).split("\n")
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


_SOLVER_MEMORY = 600 * 1024**2


def solve_told(game: Game, request: JsonMessage, send: Send) -> JsonMessage:
    """Solve a game. Sends ``progress`` about five times a second, with the line whenever it is a better one.

    The answer is the output of ``ggp solve --json``, its line replayed by the prover. A level of Sokoban is
    solved without its rules, as ``ggp solve FILE.xsb:N`` does; ``steps`` are its solution as LURD. Raises
    GdlError if the game is not a puzzle, or no solver recognises it.
    """
    from ggp.solving.levels import solve_as_line
    from ggp.solving.solve_puzzle import SolveRequest, solve_puzzle
    from ggp.solving.view import as_json_object, doubt_of
    from ggp.stopwatch import Stopwatch
    from players.puzzles.sokoban.levels.gdl import level_of_gdl
    from players.solvers import Solution, replayed

    roles = [rule for rule in game.rules if rule.head.name == "role"]
    if len(roles) != 1:
        raise GdlError(f"this game has {len(roles)} roles, and only a puzzle of one role can be solved")
    watch = Stopwatch()
    best: Solution | None = None

    def tell(solution: Solution, at_work: list[str]) -> None:
        nonlocal best
        better = solution.value >= 0 and (best is None or solution.rank > best.rank)
        if better:
            best = solution
        news = {"moves": solution.moves} if better else {}
        send(
            "progress",
            seconds=round(watch.wall, 2),
            states=solution.states,
            value=solution.value if solution.value >= 0 else None,
            length=len(solution.moves),
            proven=solution.proven,
            at_work=at_work,
            **news,
        )

    seconds, only = float(request["seconds"]), request["solver"] or None
    work = SolveRequest(game.text, seconds, _SOLVER_MEMORY, only, request["seed"])
    level = level_of_gdl(game.text) if only is None else None
    if level is not None:
        found, steps, why = solve_as_line(level, seconds, _SOLVER_MEMORY, tell)
    else:
        found, steps, why = solve_puzzle(work, tell), "", ""
    try:
        last = replayed(game.rules, found) if found.value >= 0 else None
    except GdlError:
        if not steps:  # else the rules of a level end before its solution
            raise
        found, steps = solve_puzzle(work, tell), ""
        last = replayed(game.rules, found) if found.value >= 0 else None
    doubt = why or doubt_of(game.rules, last)
    return {**as_json_object(game.name, found, watch, doubt), "steps": steps}


MEMORY = 3 * 1024**3
CPU_SECONDS = 1800.0
_PLAYOUT_SECONDS = 15.0
"""Seconds after which no further batch of playouts begins."""
BATCH = 512
_LONGEST_PLAYOUT = 10_000
Told = dict[str, object]


class _Answerer:
    """Answers the questions of :data:`ggp.answers.operations.OPERATIONS`. It keeps the last game."""

    def __init__(self) -> None:
        self._source: tuple[str, str] | None = None
        self._game: Game | None = None
        self._fast: Machine | None = None

    def answer(self, request: JsonMessage, send: Send) -> Told:
        """The answer to a request, which has ``do`` and its fields. Raises GdlError."""
        if request["do"] == "validate":
            text = request["rules"] or load_source(request).text
            return (rehearse if request.get("play") else check)(text)
        game = self._load(request)
        match request["do"]:
            case "state" | "next":
                state = self._position(game, request)
                return _whole(state.play(*request["joint"]) if request["do"] == "next" else state)
            case "legal":
                return {"legal": self._position(game, request).legal}
            case "goals":
                state = self._position(game, request)
                return {"goals": state.goals, "terminal": state.terminal}
            case "playouts":
                return self._playouts(game, request)
            case "solve":
                return solve_told(game, request, send)
            case "verify":
                return _verified(game, request["trace"])
            case other:
                raise GdlError(f"there is no question {other!r}")

    def _load(self, request: JsonMessage) -> Game:
        source = request["game"], request["rules"]
        if self._game is None or source != self._source:
            self._source, self._fast = source, None
            self._game = load_source(request)
        return self._game

    def _position(self, game: Game, request: JsonMessage, machine: Machine | None = None) -> State:
        machine = machine or game.machine("prover")
        facts = request.get("state")
        state = machine.state_of(parse_terms(facts, "state", "auto")) if facts else machine.initial_state()
        for number, joint in enumerate(request.get("moves", ()), 1):
            if state.terminal:
                raise GdlError(f"moves[{number - 1}] comes after the end of the match")
            try:
                state = state.play(*joint)
            except GdlError as error:
                raise GdlError(f"moves[{number - 1}]: {error.message}", remedy=error.remedy) from None
        return state

    def _playouts(self, game: Game, request: JsonMessage) -> Told:
        if self._fast is None:
            try:
                self._fast = game.machine("propnet")
            except TooLargeError:
                self._fast = game.machine("prover")
        machine = self._fast
        state = self._position(game, request, machine)
        end = time.monotonic() + _PLAYOUT_SECONDS
        target, seed, cut = request.get("n", BATCH), request.get("seed", 0), 0
        size = BATCH if machine.has_lanes else 8
        lengths: list[int] = []
        values: list[Counter[int]] = [Counter() for _ in machine.roles]
        while len(lengths) < target and (not lengths or time.monotonic() < end):
            n = min(size, target - len(lengths))
            batch = machine.playouts(n, seed + len(lengths), state, _LONGEST_PLAYOUT)
            cut += batch.cut
            lengths += batch.lengths.tolist()
            for counter, column in zip(values, batch.goals.T.tolist(), strict=True):
                counter.update(column)
        spell = machine.rules.spell
        return {
            "playouts": len(lengths),
            "cut": cut,
            "machine": "propnet" if machine.has_lanes else "prover",
            "goals": {spell(role): _spread(c) for role, c in zip(machine.roles, values, strict=True)},
            "lengths": {
                "mean": round(sum(lengths) / len(lengths), 3),
                "shortest": min(lengths),
                "longest": max(lengths),
            },
        }


def _spread(counter: Counter[int]) -> Told:
    reached = {value: count for value, count in sorted(counter.items()) if value >= 0}
    total = sum(reached.values())
    mean = round(sum(value * count for value, count in reached.items()) / total, 3) if total else None
    return {"mean": mean, "counts": {str(value): count for value, count in reached.items()}}


def _whole(state: State) -> Told:
    machine = state.machine
    spell = machine.rules.spell
    return {
        "roles": [spell(role) for role in machine.roles],
        "state": [spell(proposition) for proposition in sorted(state.propositions)],
        "terminal": state.terminal,
        "legal": {} if state.terminal else state.legal,
        "goals": state.goals,
    }


def _verified(game: Game, trace: str) -> Told:
    from ggp.traces import verify_game

    lines: list[dict[str, Any]] = []
    for number, line in enumerate(plain(trace).split("\n"), 1):
        if line.strip():
            try:
                lines.append(orjson.loads(line))
            except orjson.JSONDecodeError as error:
                raise GdlError(f"line {number} of the trace is no JSON: {error}") from None
    fault, states = verify_game(game.machine("prover"), lines)
    return {"fault": fault, "states": states}


def main() -> None:
    """Answer requests until the parent is gone."""
    answer_requests(_Answerer().answer, "question", MEMORY, CPU_SECONDS)
