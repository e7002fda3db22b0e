"""The stages of the cascade: how each machine is built in a process of its own, and taken over here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gdl.machine import Machine
from gdl.rules import Rules
from players.kaskade_builder import Work
from players.limits import WARM_UP_GAMES

KEEP_SECONDS = 0.1
"""A network that took less CPU time than this is not kept on disk."""

Load = Callable[[Rules, bytes, Machine | None], Machine]


@dataclass(frozen=True, slots=True)
class Stage:
    """One step up.

    Attributes:
        level: the name of the machine that it gives.
        work: what the builder does.
        load: makes the machine, in the process that plays, from the rules, the delivered bytes
            and the machine of the stage before; ready to answer at once. May raise anything.
    """

    level: str
    work: Work
    load: Load


# --- the propositional network ------------------------------------------------------------------------
def build_propnet(text: str, given: bytes) -> Iterator[bytes]:
    """The network of these rules, as bytes: the one kept on disk, or else a new one."""
    from gdl.ground import ground
    from gdl.parser import parse_rules
    from propnet.build import build
    from propnet.network_bytes import to_bytes
    from propnet.network_cache import keep, load

    rules = parse_rules(text, "rules")
    kept = load(rules)
    if kept is not None:
        yield kept
        return
    began = time.process_time()
    made = to_bytes(build(ground(rules)))
    yield made
    if time.process_time() - began > KEEP_SECONDS:
        keep(rules, made)


def warm_up_propnet() -> None:
    """Import and compile what :func:`build_propnet` needs."""
    for game in WARM_UP_GAMES:
        for _ in build_propnet(game, b""):
            pass


def load_propnet(rules: Rules, product: bytes, before: Machine | None) -> Machine:
    """The machine that interprets the network."""
    from propnet.interpret import PropnetMachine
    from propnet.network_bytes import from_bytes

    return _exercised(PropnetMachine(rules, from_bytes(product)))


def _exercised(machine: Machine) -> Machine:
    """The machine, when nothing is left that its first answers would have to wait for."""
    from players.lanes import lanes_of

    lanes_of(machine).warm_up()
    return machine


STAGES: Final[tuple[Stage, ...]] = (
    Stage(
        "propnet",
        Work("players.kaskade_stages:build_propnet", "players.kaskade_stages:warm_up_propnet"),
        load_propnet,
    ),
)
"""From the first to the furthest.

Builders have the same right to the processors as the search. One that needs C seconds of a processor,
gets the share b of it, and makes n search processes s times as fast, costs them
C * (n * (s - 1) / b + 1) seconds of search in all: the more it gets the better, whenever s > 1."""
