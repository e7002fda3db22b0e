"""The stages of the cascade: how each machine is built in a process of its own, and taken over here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gdl.machine import Machine
from gdl.rules import Rules
from players.kaskade_builder import Work
from players.limits import WARM_UP_GAMES

if TYPE_CHECKING:
    from propnet.network import Network

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
    """The network of these rules, as bytes."""
    from propnet.network_bytes import to_bytes

    yield to_bytes(_network(text))


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


def _network(text: str) -> Network:
    from gdl.ground import GroundLimits, ground
    from gdl.parser import parse_rules
    from propnet.build import build

    return build(ground(parse_rules(text, "rules"), GroundLimits()))


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
"""From the first to the furthest. The builder of the network has the same right to the processors as
the search on the prover, which is hundreds of times less worth."""
