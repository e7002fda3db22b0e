"""Small random games of one role, in which clocks matter, and what is best in them by trying everything."""

from __future__ import annotations

import random

from gdl.machine import Machine, State

MOVES = "abc"


def random_rules(seed: int, clocked: float = 0.3) -> str:
    """Rules of places in one or two rings, some lamps and a step counter; ``clocked`` is how likely an end or
    a goal is one at a certain step alone.

    A move leads from a place to another, or flips a lamp where another is lit. The match ends after some
    steps, and in some places: always, at some lamps, or at some steps. Goals depend on places, lamps, steps.
    """
    rng = random.Random(seed)
    rings = {f"at{ring}": range(rng.randint(2, 5)) for ring in range(rng.randint(1, 2))}
    lamps = [f"lamp{n}" for n in range(rng.randint(0, 3))]
    limit = rng.randint(2, 9)
    lines = ["(role you)", "(init (step 0))"]
    lines += [f"(succ {n} {n + 1})" for n in range(limit)]
    lines += ["(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))"]

    def condition() -> str:
        ring = rng.choice(list(rings))
        fact = rng.choice(
            [*lamps, f"({ring} {rng.choice(rings[ring])})", f"({ring} {rng.choice(rings[ring])})"]
        )
        return f"(true {fact})" if rng.random() < 0.7 else f"(not (true {fact}))"

    for move in MOVES:
        lines.append(
            f"(<= (legal you {move}) {condition()})" if rng.random() < 0.3 else f"(legal you {move})"
        )
    lines.append("(legal you wait)")
    for ring, places in rings.items():
        lines.append(f"(init ({ring} 0))")
        for place in places:
            for move in [*MOVES, "wait"]:
                to = place if move == "wait" else rng.choice(places)
                lines.append(f"(<= (next ({ring} {to})) (true ({ring} {place})) (does you {move}))")
    for lamp in lamps:
        flips = rng.choice(MOVES)
        on = condition()
        lines += [
            f"(<= (flips {lamp}) (does you {flips}) {on})",
            f"(<= (next {lamp}) (true {lamp}) (not (flips {lamp})))",
            f"(<= (next {lamp}) (flips {lamp}) (not (true {lamp})))",
        ]
        if rng.random() < 0.3:
            lines.append(f"(init {lamp})")
    lines.append(f"(<= terminal (true (step {limit})))")
    for _ in range(rng.randint(0, 2)):
        clock = f"(true (step {rng.randrange(1, limit)}))" if rng.random() < clocked else condition()
        lines.append(f"(<= terminal {condition()} {clock})")
    for value in rng.sample([100, 70, 50, 30, 0], rng.randint(1, 4)):
        clock = f"(true (step {rng.randint(1, limit)}))" if rng.random() < clocked else condition()
        lines.append(f"(<= (goal you {value}) {condition()} {clock})")
    return "\n".join(lines)


def shortest_ends(machine: Machine) -> dict[int, int]:
    """Each goal value that a line can end with, the highest that holds and 0 for none, with the length of the
    shortest such line."""
    layer: set[State] = {machine.initial_state()}
    ends: dict[int, int] = {}
    depth = 0
    while layer:
        going = set()
        for state in layer:
            if machine.is_terminal(state):
                ends.setdefault(machine.result(state, 0) or 0, depth)
            else:
                going |= {machine.next_state(state, [move]) for move in machine.legal_moves(state, 0)}
        layer = going
        depth += 1
    return ends
