"""Small random games as rules text, and what is best in them by trying everything."""

from __future__ import annotations

import random
from itertools import product

from gdl.machine import Machine, State


def random_game(seed: int, roles: int, simultaneous: bool, steps: int = 4) -> str:
    """Rules of a walk through a few places: where it leads depends on everyone's moves.

    Each place and role has its own legal moves (``noop`` alone where the role is not in turn), and
    final goals; the goals of two roles sum to 100. The match ends after so many ``steps`` or in some places.
    """
    rng = random.Random(seed)
    places = range(rng.randint(2, 5))
    names = [f"r{r}" for r in range(roles)]
    lines = [f"(role {name})" for name in names]
    lines += ["(init (at 0))", "(init (step 0))"]
    lines += [f"(succ {i} {i + 1})" for i in range(steps)]
    lines += ["(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))", f"(<= terminal (true (step {steps})))"]
    for place in places:
        turn = rng.randrange(roles)
        options: list[list[str]] = []
        for r, name in enumerate(names):
            free = simultaneous or r == turn
            moves = rng.sample(["a", "b", "c"], rng.randint(1, 3)) if free else ["noop"]
            options.append(moves)
            lines += [f"(<= (legal {name} {move}) (true (at {place})))" for move in moves]
        for joint in product(*options):
            does = " ".join(f"(does {n} {m})" for n, m in zip(names, joint, strict=True))
            lines.append(f"(<= (next (at {rng.choice(places)})) (true (at {place})) {does})")
        if place and rng.random() < 0.3:
            lines.append(f"(<= terminal (true (at {place})))")
        value = rng.choice([0, 0, 50, 100, 30])
        values = [value, 100 - value] if roles == 2 else [rng.choice([0, 50, 100]) for _ in names]
        lines += [f"(<= (goal {n} {v}) (true (at {place})))" for n, v in zip(names, values, strict=True)]
    return "\n".join(lines)


def best_result(machine: Machine, state: State) -> int:
    """Role 0's result under best play of the one role, or of two that are never free together."""
    if machine.is_terminal(state):
        value = machine.goal(state, 0)
        assert value is not None
        return value
    options = [machine.legal_moves(state, r) for r in range(len(machine.roles))]
    results = [best_result(machine, machine.next_state(state, joint)) for joint in product(*options)]
    return min(results) if len(options) == 2 and len(options[1]) > 1 else max(results)


def random_hidden_game(seed: int, steps: int = 4) -> str:
    """Rules of a walk in which ``me`` sees little of where chance and ``you`` go.

    ``me`` has the same moves everywhere, the others their own in each place. What ``me`` perceives depends on
    the place, on what the others do there, and on what chance did before. The match ends after so many
    ``steps``, or in some places.
    """
    rng = random.Random(seed)
    places = range(rng.randint(2, 6))
    lines = ["(role me)", "(role you)", "(role random)", "(init (at 0))", "(init (step 0))"]
    lines += [f"(succ {i} {i + 1})" for i in range(steps)]
    lines += ["(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))", f"(<= terminal (true (step {steps})))"]
    lines += ["(<= (next (before ?m)) (does random ?m))"]
    mine = rng.sample(["a", "b", "c"], rng.randint(1, 3))
    lines += [f"(legal me {move})" for move in mine]
    for place in places:
        options = [mine]
        for name in ("you", "random"):
            options.append(rng.sample(["a", "b", "c"], rng.randint(1, 3)))
            lines += [f"(<= (legal {name} {move}) (true (at {place})))" for move in options[-1]]
        for joint in product(*options):
            does = " ".join(f"(does {n} {m})" for n, m in zip(("me", "you", "random"), joint, strict=True))
            lines.append(f"(<= (next (at {rng.choice(places)})) (true (at {place})) {does})")
        for move in options[2]:
            if rng.random() < 0.4:
                lines.append(f"(<= (sees me (drew {move})) (true (at {place})) (does random {move}))")
        if rng.random() < 0.5:
            lines.append(f"(<= (sees me {rng.choice('xy')}) (true (at {place})) (does you {options[1][0]}))")
        if place and rng.random() < 0.2:
            lines.append(f"(<= terminal (true (at {place})))")
    lines += ["(<= (sees me old) (true (before a)) (does you b))", "(goal me 50)", "(goal you 50)"]
    return "\n".join(lines)


# --- Small random games of one role, in which clocks matter, and what is best in them by trying everything
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
