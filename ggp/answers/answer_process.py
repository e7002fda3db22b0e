"""The process that answers questions about one game at a time, within limits."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import orjson

from gdl.errors import GdlError, TooLargeError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_terms
from ggp.answers.findings import check, rehearse
from ggp.answers.solve import solve_told
from ggp.answers.source import load_source
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send
from ggp.processes.work_process import answer_orders

MEMORY = 3 * 1024**3
CPU_SECONDS = 1800.0
PLAYOUT_SECONDS = 15.0
"""After so long no further batch of playouts is begun."""
BATCH = 512
LONGEST_PLAYOUT = 10_000
Told = dict[str, object]


class Answerer:
    """Answers the questions of :data:`ggp.answers.operations.OPERATIONS`; keeps the last game."""

    def __init__(self) -> None:
        self._known: tuple[str, str] | None = None
        self._game: Game | None = None
        self._fast: Machine | None = None

    def answer(self, order: JsonMessage, send: Send) -> Told:
        """The answer to an order: ``do`` and its fields. Raises GdlError."""
        if order["do"] == "validate":
            text = order["rules"] or load_source(order).text
            return (rehearse if order.get("play") else check)(text)
        game = self._load(order)
        match order["do"]:
            case "state" | "next":
                state = self._position(game, order)
                return _whole(state.play(*order["joint"]) if order["do"] == "next" else state)
            case "legal":
                return {"legal": self._position(game, order).legal}
            case "goals":
                state = self._position(game, order)
                return {"goals": state.goals, "terminal": state.terminal}
            case "playouts":
                return self._playouts(game, order)
            case "solve":
                return solve_told(game, order, send)
            case "verify":
                return _verified(game, order["trace"])
            case other:
                raise GdlError(f"there is no question {other!r}")

    def _load(self, order: JsonMessage) -> Game:
        known = order["game"], order["rules"]
        if self._game is None or known != self._known:
            self._known, self._fast = known, None
            self._game = load_source(order)
        return self._game

    def _position(self, game: Game, order: JsonMessage, machine: Machine | None = None) -> State:
        machine = machine or game.machine("prover")
        facts = order.get("state")
        state = machine.state_of(parse_terms(facts, "state", "auto")) if facts else machine.initial_state()
        for number, joint in enumerate(order.get("moves", ()), 1):
            if state.terminal:
                raise GdlError(f"moves[{number - 1}] comes after the end of the match")
            try:
                state = state.play(*joint)
            except GdlError as error:
                raise GdlError(f"moves[{number - 1}]: {error.message}", remedy=error.remedy) from None
        return state

    def _playouts(self, game: Game, order: JsonMessage) -> Told:
        if self._fast is None:
            try:
                self._fast = game.machine("propnet")
            except TooLargeError:
                self._fast = game.machine("prover")
        machine = self._fast
        state = self._position(game, order, machine)
        end = time.monotonic() + PLAYOUT_SECONDS
        wanted, seed, cut = order.get("n", BATCH), order.get("seed", 0), 0
        size = BATCH if machine.has_lanes else 8
        lengths: list[int] = []
        values: list[Counter[int]] = [Counter() for _ in machine.roles]
        while len(lengths) < wanted and (not lengths or time.monotonic() < end):
            n = min(size, wanted - len(lengths))
            batch = machine.playouts(n, seed + len(lengths), state, LONGEST_PLAYOUT)
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
    known = {value: count for value, count in sorted(counter.items()) if value >= 0}
    total = sum(known.values())
    mean = round(sum(value * count for value, count in known.items()) / total, 3) if total else None
    return {"mean": mean, "counts": {str(value): count for value, count in known.items()}}


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
    from ggp.traces.verify import verify_game

    lines: list[dict[str, Any]] = []
    for number, line in enumerate(trace.splitlines(), 1):
        if line.strip():
            try:
                lines.append(orjson.loads(line))
            except orjson.JSONDecodeError as error:
                raise GdlError(f"line {number} of the trace is no JSON: {error}") from None
    fault, states = verify_game(game.machine("prover"), lines)
    return {"fault": fault, "states": states}


def main() -> None:
    """Answer until the other end is gone."""
    answer_orders(Answerer().answer, "question", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
