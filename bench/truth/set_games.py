"""One-player games whose moves set facts for good: covers, latches, tours and SAT, against all states.

The games are odd: pieces that stand twice or cover nothing, things covered from the start or by nothing,
coverings that may overlap, things that must not be covered, moves that take something away, tours in graphs
without a way, ends before all is done, goals for a part.
"""

from __future__ import annotations

import contextlib
import random

from bench.truth.field import Case, Field, random_condition, step_counter
from bench.truth.puzzles import check_solver, drawn_puzzle
from gdl.errors import GdlError
from players.solvers import solvers_named


def random_set_game(rng: random.Random) -> str:
    """Rules of things that options cover, each option at most once."""
    things = range(rng.randint(1, 6))
    options = [
        sorted(rng.sample(things, rng.randint(0, min(3, len(things))))) for _ in range(rng.randint(0, 7))
    ]
    if options and rng.random() < 0.3:
        options.append(rng.choice(options))
    facts = [f"(covered {thing})" for thing in things]
    overlap = rng.random() < 0.25
    lines = ["(role you)"]
    lines += [f"(init {fact})" for fact in facts if rng.random() < 0.1]
    for number, covered in enumerate(options):
        free = "" if overlap else " ".join(f"(not (true (covered {thing})))" for thing in covered)
        once = f"(not (true (used {number})))" if rng.random() < 0.8 else ""
        extra = random_condition(rng, facts, 1) if rng.random() < 0.1 else ""
        lines.append(f"(<= (legal you (put {number})) {free} {once} {extra})")
        lines.append(f"(<= (next (used {number})) (does you (put {number})))")
        lines.append(f"(<= (next (used {number})) (true (used {number})))")
        lines += [f"(<= (next (covered {thing})) (does you (put {number})))" for thing in covered]
    lost = rng.choice(facts) if rng.random() < 0.1 and options else ""
    for fact in facts:
        taken = f"(not (does you (put {rng.randrange(len(options))})))" if fact == lost else ""
        lines.append(f"(<= (next {fact}) (true {fact}) {taken})")
    if rng.random() < 0.4:
        lines.append("(legal you stop)")
        lines += ["(<= (next stopped) (does you stop))", "(<= terminal (true stopped))"]
    if rng.random() < 0.4:
        most = rng.randint(1, len(options) + 1)
        lines += [*step_counter(most), f"(<= terminal (true (step {most})))"]
    lines += ["(<= someMove (legal you ?m))", "(<= terminal (not someMove))"] if rng.random() < 0.7 else []
    wanted = [f"(not (true {fact}))" if rng.random() < 0.1 else f"(true {fact})" for fact in facts]
    return "\n".join([*lines, *_goals(rng, wanted)])


def random_tour(rng: random.Random) -> str:
    """Rules of a way through a small graph that visits no place twice."""
    places = range(rng.randint(1, 6))
    share = rng.choice((0.3, 0.5, 0.8))
    edges = [(a, b) for a in places for b in places if a != b and rng.random() < share]
    lines = ["(role you)", *(f"(edge {a} {b})" for a, b in edges)]
    begins = rng.random() < 0.8
    if begins:
        start = rng.choice(places)
        lines += [f"(init (at {start}))", f"(init (seen {start}))"]
    else:
        lines += [f"(<= (legal you (go {place})) (not (true begun)))" for place in places]
    lines += [
        "(<= (legal you (go ?b)) (true (at ?a)) (edge ?a ?b) (not (true (seen ?b))))",
        "(<= (next (at ?b)) (does you (go ?b)))",
        "(<= (next (seen ?b)) (does you (go ?b)))",
        "(<= (next (seen ?a)) (true (seen ?a)))",
        "(<= (next begun) (does you (go ?b)))",
        "(<= (next begun) (true begun))",
    ]
    ends = ["(<= someMove (legal you ?m))", "(<= terminal (not someMove))"]
    if rng.random() < 0.4:
        ends = [*step_counter(len(places) + 1), f"(<= terminal (true (step {rng.randint(1, len(places))})))"]
        ends += ["(<= (legal you stay) (true (at ?a)))", "(<= (next (at ?a)) (true (at ?a)) (does you stay))"]
    wanted = [f"(true (seen {place}))" for place in places]
    if begins and rng.random() < 0.3:
        wanted.append(f"(true (at {rng.choice(places)}))")
    return "\n".join([*lines, *ends, *_goals(rng, wanted)])


def _goals(rng: random.Random, wanted: list[str]) -> list[str]:
    """Goals for all that is wanted and, often, for parts of it."""
    best, part = rng.choice((100, 100, 90)), rng.choice((0, 30, 50))
    lines = [f"(<= all {' '.join(wanted)})", f"(<= (goal you {best}) all)"]
    if rng.random() < 0.5:
        half = " ".join(rng.sample(wanted, rng.randint(0, len(wanted))))
        lines += [f"(<= some {half} (not all))", f"(<= (goal you {part}) some)"]
        lines += ["(<= (goal you 0) (not all) (not some))"] if rng.random() < 0.7 else []
    elif rng.random() < 0.8:
        lines.append("(<= (goal you 0) (not all))")
    return lines


def _examine(rng: random.Random, case: Case) -> None:
    puzzle = drawn_puzzle(rng, case, lambda: rng.choice((random_set_game, random_tour))(rng))
    if puzzle is None:
        return
    rules, machine, truth = puzzle
    for solver in solvers_named(None):
        known = False
        with contextlib.suppress(GdlError):
            known = solver.recognise(machine) is not None
        if known and solver.name != "frontier":
            check_solver(case, rules, machine, truth, solver.name, rng.randrange(100))


FIELD = Field("set-games", _examine)
