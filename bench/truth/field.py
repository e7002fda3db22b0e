"""What a field of instances is: it draws one, and checks what is claimed of it."""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gdl.rules import Rules
from players.kaskade.make_machine import make_machine
from propnet.capabilities import lane_machine
from propnet.machine import PropnetMachine


@dataclass(slots=True)
class Case:
    """One instance under test.

    Attributes:
        seed: what the instance was drawn from.
        text: the instance, for people.
        claims: how many claims of each kind were checked.
        faults: what was claimed and is not so.
    """

    seed: int
    text: str = ""
    claims: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def check(self, kind: str, holds: bool, claim: str = "") -> None:
        """Count a claim of this kind, ``claim`` in words; it is a fault unless it ``holds``."""
        self.claims[kind] += 1
        if not holds:
            self.faults.append(f"{kind}: {claim}" if claim else kind)

    def equal(self, kind: str, claimed: object, true: object) -> None:
        """Count a claim of this kind that names a value."""
        self.check(kind, claimed == true, f"claims {claimed}, true is {true}")


@dataclass(frozen=True, slots=True)
class Field:
    """Instances of one kind.

    Attributes:
        name: by which people ask for it.
        examine: draws an instance from the randomness, and checks what is claimed of it.
    """

    name: str
    examine: Callable[[random.Random, Case], None]

    def case(self, seed: int) -> Case:
        """Draw and check the instance of this seed. Exceptions of solvers are faults too."""
        case = Case(seed)
        try:
            self.examine(random.Random(f"{self.name} {seed}"), case)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            name = "/".join(Path(place.filename).parts[-2:])
            case.faults.append(f"{type(error).__name__}: {error} ({name}:{place.lineno})")
        return case


def network_machine(rules: Rules) -> PropnetMachine:
    """The machine that solvers get."""
    machine = lane_machine(make_machine(rules, "propnet"))
    assert isinstance(machine, PropnetMachine)
    return machine


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
