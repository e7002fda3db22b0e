"""Parts of random rules that several fields draw."""

from __future__ import annotations

import random
from collections.abc import Sequence


def random_condition(rng: random.Random, facts: Sequence[str], most: int) -> str:
    """At most so many of these facts, some of them negated, for the body of a rule; empty for none."""
    chosen = rng.sample(facts, min(rng.randint(0, most), len(facts)))
    return " ".join(f"(not (true {fact}))" if rng.random() < 0.4 else f"(true {fact})" for fact in chosen)


def step_counter(known: int) -> list[str]:
    """Rules of a counter from 0, which knows what comes after each of so many numbers."""
    return [
        "(init (step 0))",
        *(f"(succ {n} {n + 1})" for n in range(known)),
        "(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))",
    ]
