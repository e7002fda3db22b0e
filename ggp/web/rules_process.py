"""The process that works on the rules of one page: checks, converts, scrambles, counts, draws."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.format import convert
from gdl.syntax.notation import form_of, named_notation
from gdl.syntax.parser import parse_rules, parse_term
from ggp.answers.answer_process import check, rehearse
from ggp.boards.board import find_board
from ggp.boards.spoken.words import MoveWords
from ggp.boards.svg.picture import SvgPainter
from ggp.processes.parent import JsonMessage, Send, answer_requests

MEMORY = 1024**3
CPU_SECONDS = 300.0
GROUND_SECONDS = 10.0
GROUND_RULES = 500_000
_MOST_OUTPUTS = 2000
"""Largest number of a network's outputs that are named."""
MOST_BOXES = 1500
_LARGEST_DRAWING = 2 * 1024 * 1024
"""Characters of SVG."""
NAME = "rules"
Told = dict[str, object]


def rewritten(text: str, to: str = "") -> Told:
    """The rules in canonical form, in the notation ``to``; in their own if that is empty. Raises GdlError."""
    return {"text": convert(text, named_notation(to or "auto"), NAME)}


def scrambled(text: str, seed: int = 0) -> Told:
    """The same game under other names, in the notation of the text."""
    from gdl.scramble import scramble

    renamed, _ = scramble(parse_rules(text, NAME), seed)
    return {"text": convert(str(renamed), form_of(text).name)}


def counted(text: str) -> Told:
    """Statistics of the ground rules, as rows of name, value and meaning."""
    from gdl.grounding.ground_rules import MEANINGS, counts_of

    counts = counts_of(_grounded(parse_rules(text, NAME), names=False))
    return {
        "rows": [[name.replace("_", " "), value, MEANINGS.get(name, "")] for name, value in counts.items()]
    }


def drawn(text: str, of: str = "") -> Told:
    """A drawing of the network that computes one output, or all outputs if ``of`` is empty.

    Returns:
        ``svg``, the drawing, or an empty text with the reason in ``why`` if it would be too large. ``rows``
        has the counts of the whole network and ``outputs`` the names of its outputs.
    """
    from propnet.build import build
    from propnet.drawing import draw, output_names, svg

    rules = parse_rules(text, NAME)
    outputs = [parse_term(of, "output", "auto")] if of else []
    network = build(_grounded(rules, names=True))
    result: Told = {
        "rows": [
            ["base propositions", len(network.bases), "facts that may be true in a state"],
            ["moves", network.move_count, "of all roles together"],
            ["gates", network.gates, "ANDs over complemented edges"],
            ["gate inputs", len(network.gate_inputs), "the cost of one evaluation"],
            ["base gates", network.base_gates, "gates that need no move"],
            ["loops", len(network.loops), "groups of gates that read each other"],
        ],
        "outputs": [rules.spell(name) for name in list(output_names(network))[:_MOST_OUTPUTS]],
        "svg": "",
        "why": "",
    }
    try:
        drawing = draw(network, outputs, spell=rules.spell, title=of or NAME)
        if len(drawing.boxes) > MOST_BOXES:
            raise GdlError(f"there are {len(drawing.boxes):,} boxes to draw, more than anyone can read")
        picture = svg(drawing)
        if len(picture) > _LARGEST_DRAWING:
            raise GdlError("the drawing would be larger than a page can show")
        result["svg"] = picture
    except GdlError as error:
        result["why"] = error.message
    return result


def _grounded(rules: Rules, names: bool) -> Any:
    from gdl.grounding.pipeline import GroundLimits, ground

    limits = GroundLimits(max_rules=GROUND_RULES, memory_bytes=MEMORY, cpu_seconds=GROUND_SECONDS)
    return ground(rules, limits, names=names)


_MOST_SHOWN = 60
_SHOW_SECONDS = 4.0
"""CPU time for the states of a random match."""


def shown(text: str, seed: int = 0, steps: int = 0) -> Told:
    """Drawings of the initial state and of the states of a random match. Raises GdlError.

    Returns:
        ``frames``, each with its ``svg``, the ``moves`` that led to it in words, and in a terminal state the
        goal values as ``end``. ``why`` is the reason if the match ended early.
    """
    machine = ProverMachine(parse_rules(text, NAME))
    board = find_board(machine)
    painter = SvgPainter(board, machine.rules, machine.roles)
    words = MoveWords(machine.rules, machine.roles, board)
    rng, until = random.Random(seed), time.process_time() + _SHOW_SECONDS
    state, before, why = machine.initial_state(), None, ""
    frames: list[Told] = [{"svg": painter.draw_state(state, facts=False), "moves": [], "end": ""}]
    spell = machine.rules.spell
    while len(frames) <= min(steps, _MOST_SHOWN) and time.process_time() < until:
        if machine.is_terminal(state):
            goals = [f"{spell(one)} {machine.goal(state, i)}" for i, one in enumerate(machine.roles)]
            frames[-1]["end"] = ", ".join(goals)
            break
        options = machine.options(state)
        if not all(options):
            why = "a role has no legal move"
            break
        joint = [rng.choice(moves) for moves in options]
        before, state = state, machine.next_state(state, joint)
        moves = words.joint(before, joint)
        frames.append({"svg": painter.draw_state(state, before, facts=False), "moves": moves, "end": ""})
    return {"frames": frames, "why": why}


JOBS: dict[str, Callable[..., Told]] = {
    "check": check,
    "rehearse": rehearse,
    "rewrite": rewritten,
    "scramble": scrambled,
    "count": counted,
    "draw": drawn,
    "show": shown,
}
"""The jobs that a page may request; :data:`ggp.web.rules.JOBS` has the schemas of their arguments."""


def _answer(request: JsonMessage, send: Send) -> Told:
    return JOBS[request["do"]](**{name: request[name] for name in request if name not in ("do", "kind")})


def main() -> None:
    """Work until the other end is gone."""
    answer_requests(_answer, "check", MEMORY, CPU_SECONDS)
