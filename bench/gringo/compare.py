"""Takes the CPU time of our grounder and of gringo on one game, each in a process of its own.

CPU time counts after the imports and a warm-up on a game of a few rules; where runs are short the least of
several. Gringo gets an answer set program with one choice rule each for ``true`` and ``does``, and no solver
runs. Symbols of the rules become ``s0``, ``s1``, ..., functors and relations ``f0``, ..., so that no
spelling means anything in ASP. The atoms that gringo calls possible are those that can hold if negations of
what can change are ignored: the same over-approximation as our reachability.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.processes import call
from gdl.compile.normalize import Clause, normalize
from gdl.errors import GdlError
from gdl.grounding.pipeline import GroundLimits, ground
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from gdl.terms import DOES, INIT, LEGAL, NEXT, ROLE, TRUE, Term
from ggp.bench.measure import peak_mb
from ggp.rule_files import read_rules_file


@dataclass(frozen=True)
class Translation:
    """An answer set program, and the way back.

    Attributes:
        text: the program.
        names: the ASP names of symbols, functors and relations -> those of the rules.
        true: ASP name and arity of ``true``.
        does: ASP name and arity of ``does``.
    """

    text: str
    names: dict[str, str]
    true: tuple[str, int]
    does: tuple[str, int]

    def term(self, symbol: Any) -> Term:
        """The GDL term of a clingo Symbol."""
        return Term(self.names[symbol.name], *map(self.term, symbol.arguments))


def translate(clauses: list[Clause]) -> Translation:
    """Translate clauses in normal form."""
    names: dict[tuple[str, bool], str] = {}

    def name(word: str, applied: bool) -> str:
        return names.setdefault((word, applied), f"{'f' if applied else 's'}{len(names)}")

    def write(term: Term) -> str:
        if term.is_variable:
            return f"V{variables.setdefault(term, len(variables))}"
        if not term.args:
            return name(term.name, False)
        return f"{name(term.name, True)}({','.join(map(write, term.args))})"

    true, does, initial, following, legal, role = (
        name(word, True) for word in (TRUE, DOES, INIT, NEXT, LEGAL, ROLE)
    )
    lines = [
        f"{{{true}(X)}} :- {initial}(X).",
        f"{{{true}(X)}} :- {following}(X).",
        f"{{{does}(R,X)}} :- {legal}(R,X), {role}(R).",
    ]
    for clause in clauses:
        variables: dict[Term, int] = {}
        body = [write(p) for p in clause.positives]
        body += [f"not {write(n)}" for n in clause.negatives]
        body += [f"{write(left)}!={write(right)}" for left, right in clause.distincts]
        lines.append(f"{write(clause.head)} :- {', '.join(body)}." if body else f"{write(clause.head)}.")
    back = {short: word for (word, _), short in names.items()}
    return Translation("\n".join(lines), back, (true, 1), (does, 2))


WARM_UP = """(role a) (init (on 1)) (init (on 2)) (succ 1 2) (succ 2 1) (<= (legal a (go ?x)) (true (on ?x)))
(<= (next (on ?y)) (does a (go ?x)) (succ ?x ?y)) (<= (next (on ?x)) (true (on ?x)) (not (does a (go ?x))))
(<= terminal (not (true (on 1)))) (goal a 100)"""

RUNS = 5
"""Most runs of one game."""

ENOUGH = 0.5
"""Seconds of CPU time after which a game is not run again."""

MEMORY = 4 << 30
"""Bytes that a process may grow by."""

PRELOAD = ["bench.gringo.compare", "clingo"]


def run_gringo(translation: Translation) -> Any:
    """Ground with gringo; the clingo Control that holds the ground program."""
    import clingo

    control = clingo.Control(["--warn=none"])
    control.add("base", [], translation.text)
    control.ground([("base", [])])
    return control


def ours(text: str, seconds: float) -> dict[str, Any]:
    """Times of our grounder, and sizes."""
    start = time.process_time()
    rules = parse_rules(text)
    parsed = time.process_time()
    grounded = ground(rules, GroundLimits(memory_bytes=MEMORY, cpu_seconds=seconds))
    end = time.process_time()
    return {
        "ground_s": end - parsed,
        "whole_s": end - start,
        "rules": len(grounded.heads),
        "literals": len(grounded.bodies),
        "bases": len(grounded.bases),
        "moves": grounded.move_count,
        "passes": grounded.stats,
    }


def theirs(text: str, seconds: float) -> dict[str, Any]:
    """Times of gringo, and sizes."""
    start = time.process_time()
    rules: Rules = parse_rules(text)
    translation = translate(normalize(rules))
    translated = time.process_time()
    control = run_gringo(translation)
    end = time.process_time()
    atoms = control.symbolic_atoms
    return {
        "ground_s": end - translated,
        "whole_s": end - start,
        "bases": sum(1 for _ in atoms.by_signature(*translation.true)),
        "moves": sum(1 for _ in atoms.by_signature(*translation.does)),
        "atoms": len(atoms),
    }


def best_of_runs(side: Callable[[str, float], dict[str, Any]], path: Path, seconds: float) -> dict[str, Any]:
    """One side on one game: the least times of some runs. Limits the memory of its process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + (2 << 30), MEMORY + (2 << 30)))
    best: dict[str, Any] = {}
    try:
        side(WARM_UP, seconds)
        text = read_rules_file(path)
        spent = 0.0
        for _ in range(RUNS):
            run = side(text, seconds)
            spent += run["whole_s"]
            for key in ("ground_s", "whole_s"):
                run[key] = min(run[key], best.get(key, math.inf))
            best = {"status": "ok", **run}
            if spent > ENOUGH:
                break
    except GdlError as error:
        best = {"status": f"{type(error).__name__}: {error.message}"}
    except (MemoryError, RuntimeError) as error:
        best = {"status": f"{type(error).__name__}: {error}"}
    return {**best, "peak_mb": peak_mb()}


def measure(side: Callable[[str, float], dict[str, Any]], path: Path, seconds: float) -> dict[str, Any]:
    """One side on one game in a process of its own."""
    result, reason = call(best_of_runs, (side, path, seconds), PRELOAD, seconds + 5)
    return result or {"status": reason}
