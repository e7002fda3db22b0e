"""Records random matches state by state, as traces that ``ggp verify`` replays."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from gdl.errors import cannot_play
from gdl.information import hides
from gdl.machine import JointMove, Machine, State
from gdl.syntax.parser import parse_terms
from gdl.terms import Term


def record(
    machine: Machine,
    name: str,
    *,
    seed: int = 0,
    playouts: int = 1,
    opening: str = "",
    max_steps: int = 10_000,
    max_bytes: int | None = None,
) -> Iterator[bytes]:
    """A trace of one or more random matches: JSON objects, one per line.

    The choice of moves depends only on the seed and the rules: two machines that agree on the rules produce
    the same trace.

    Args:
        machine: the game.
        name: its name, for the first line.
        seed: seed of the choice of moves.
        playouts: number of matches, one after the other.
        opening: moves, as a sequence of GDL terms, that begin the first match: at each step one for every
            role that has a choice, in role order. A forced move may be given, too.
        max_steps: a match ends after this many joint moves.
        max_bytes: approximate limit of the size of the trace. Each match gets a share; if a match needs more,
            its middle is left out, so that its first and last states remain.

    Raises:
        MoveError: the opening has an illegal move.
    """
    roles = [machine.rules.spell(role) for role in machine.roles]
    init = _spelled(machine, machine.initial_state().propositions)
    yield _line(type="game", game=name, roles=roles, init=init, rules=len(machine.rules), seed=seed)
    rng = random.Random(seed)
    states = ended = 0
    for playout in range(playouts):
        script = parse_terms(opening, "opening", "auto")[::-1] if opening and not playout else []
        lines: list[bytes] = []
        for step, (state, joint) in enumerate(_match(machine, rng, script, max_steps)):
            lines.append(_step(playout, step, state, joint))
            ended += state.terminal
        if max_bytes is not None:
            lines = _ends(lines, max_bytes // playouts)
        states += len(lines)
        yield from lines
    yield _line(type="end", status="ok", states=states, playouts=playouts, terminals=ended)


def _match(
    machine: Machine, rng: random.Random, script: list[Term], max_steps: int
) -> Iterator[tuple[State, JointMove | None]]:
    """States and the joint moves in them; None in the last one. Removes the moves used from the end of the
    script."""
    state = machine.initial_state()
    for _ in range(max_steps):
        options = machine.options(state)
        if machine.is_terminal(state) or not all(options):
            break
        joint = []
        for role, moves in enumerate(options):
            if len(moves) == 1 and (not script or machine.move(role, moves[0]) is not script[-1]):
                joint.append(moves[0])
            elif script:
                joint.append(_scripted(machine, role, script.pop(), moves))
            else:
                joint.append(rng.choice(sorted(moves, key=lambda m: machine.move(role, m))))
        yield state, tuple(joint)
        state = machine.next_state(state, joint)
    yield state, None


def _scripted(machine: Machine, role: int, move: Term, options: Sequence[int]) -> int:
    index = machine.move_id(role, move)
    if index not in options:
        texts = machine.move_texts[role]
        legal = [texts[option] for option in options]
        raise cannot_play(machine.roles[role], str(move), legal, "the opening's move is not legal there")
    return index


def _step(playout: int, step: int, state: State, joint: JointMove | None) -> bytes:
    machine = state.machine
    move, spell = machine.move, machine.rules.spell
    roles = range(len(machine.roles))
    percepts: dict[str, Any] = {}
    if joint is not None and hides(machine.rules):
        percepts["percepts"] = [_spelled(machine, seen) for seen in machine.percepts(state, joint)]
    legal = [[move(r, m) for m in machine.legal_moves(state, r)] for r in roles]
    return _line(
        type="step",
        p=playout,
        s=step,
        terminal=machine.is_terminal(state),
        state=_spelled(machine, state.propositions),
        legal={spell(machine.roles[r]): _spelled(machine, legal[r]) for r in roles},
        joint=None if joint is None else [spell(move(r, joint[r])) for r in roles],
        goals=[machine.goal(state, r) for r in roles],
        **percepts,
    )


def _spelled(machine: Machine, terms: Iterable[Term]) -> list[str]:
    return [machine.rules.spell(t) for t in sorted(terms)]


def _line(**fields: Any) -> bytes:
    return orjson.dumps(fields) + b"\n"


def _ends(lines: list[bytes], budget: int) -> list[bytes]:
    """As many of the first and last lines as the budget allows, alternating between both ends."""
    head, tail = 0, len(lines)
    while head < tail:
        at_head = head <= len(lines) - tail
        budget -= len(lines[head if at_head else tail - 1])
        if budget < 0 and head and tail < len(lines):
            break
        head, tail = (head + 1, tail) if at_head else (head, tail - 1)
    return lines[:head] + lines[tail:]
