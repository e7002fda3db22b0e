"""`find_symmetries`: the symmetries of a game, those that are proven and those that play shows alone.

Proven are automorphisms that :mod:`propnet.symmetries` has verified gate by gate. It sees how rules are
written: that a chain of stones joins left to right just if it joins right to left, or that discs are as many
whatever the order they are counted in, it does not see. So turns of the board
(:mod:`players.symmetries.renamings`) are tried in some thousands of states besides. What passes is good
enough to learn by, and nothing else: a search may rest on what is proven alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.limits import GroundLimits
from gdl.grounding.pipeline import ground as instantiated
from players.symmetries.play_test import PlayTest
from players.symmetries.renamings import renamings
from propnet.machine import PropnetMachine
from propnet.symmetries.group import EFFORT, MOST_INPUTS, Automorphism, automorphisms, closure

MOST = 32
"""Elements unless told otherwise."""
MOST_PROPOSITIONS = 2_000
"""Games with more have the identity alone: to test it costs more than a moment."""

_INPUTS, _SECONDS = 20_000, 0.5
"""Networks with more gate inputs are looked at without their ground rules, where these are not at hand; CPU
time to make them."""


@dataclass(frozen=True, eq=False)
class GameSymmetries:
    """A group of symmetries of a game, the identity first.

    Attributes:
        images: int32, shape (elements, bases): base proposition b becomes ``images[e, b]``.
        moves: int32, shape (elements, moves of all roles): the same for moves, counted on in role order.
        exchanged: bool, shape (elements,): whether roles 0 and 1 change places: what one is worth in a state
            the other is worth in the image.
        proven: bool, shape (elements,): whether it is verified; else play has shown nothing against it.
    """

    images: NDArray[np.int32]
    moves: NDArray[np.int32]
    exchanged: NDArray[np.bool_]
    proven: NDArray[np.bool_]

    def __len__(self) -> int:
        """How many elements there are, the identity included."""
        return len(self.images)

    def __str__(self) -> str:
        """For people to read."""
        if len(self) == 1:
            return "no symmetries"
        tested = int((~self.proven).sum())
        parts = [f"{len(self)} symmetries"]
        if self.exchanged.any():
            parts.append(f"{int(self.exchanged.sum())} of them exchange the roles")
        if tested:
            parts.append(f"{tested} are shown by play alone")
        return ", ".join(parts)


def find_symmetries(
    machine: PropnetMachine,
    ground: GroundRules | None = None,
    most: int = MOST,
    effort: int = EFFORT,
    inputs: int = MOST_INPUTS,
) -> GameSymmetries:
    """The symmetries of a machine's game, ``most`` elements at most; the identity alone where none is found
    or the game is too large. No error is raised.

    Args:
        ground: the rules that the network was built of. If None those that the machine has kept, or what its
            rules give within half a second: they show symmetries that a network's passes hide.
        effort, inputs: see :func:`propnet.symmetries.group.automorphisms`. Those of ours with large networks
            want more: chess, whose roles can be exchanged, 40 million and a million, and two seconds.
    """
    network = machine.network
    exchange = len(network.roles) == 2
    if len(network.bases) > MOST_PROPOSITIONS:
        identity = Automorphism.identity(network)
        return _symmetries([identity], [identity])
    rules = _ground_rules(machine) if ground is None else ground
    if rules is not None and (rules.bases != network.bases or rules.moves != network.moves):
        rules = None
    proven = automorphisms(network, rules, most, exchange=exchange, effort=effort, inputs=inputs)
    try:
        group = _with_tested(machine, proven, most)
    except GdlError:
        group = proven
    return _symmetries(group, proven)


def _ground_rules(machine: PropnetMachine) -> GroundRules | None:
    """The ground rules of a machine, if they are at hand or soon made."""
    if machine.ground is not None or len(machine.network.gate_inputs) > _INPUTS:
        return machine.ground
    try:
        return instantiated(machine.rules, GroundLimits(cpu_seconds=_SECONDS))
    except GdlError:
        return None


def _with_tested(machine: PropnetMachine, proven: list[Automorphism], most: int) -> list[Automorphism]:
    """The group with the renamings besides that pass the test, as far as it has room for them."""
    group, generators = proven, list(proven)
    test: PlayTest | None = None
    for renaming in renamings(machine.rules, machine.network):
        if any((renaming.bases == element.bases).all() for element in group):
            continue
        test = test or PlayTest(machine)
        if test.passes(renaming):
            closed = closure([*generators, renaming], proven[0], most)
            if closed is not None:
                generators.append(renaming)
                group = closed
    return group


def _symmetries(group: list[Automorphism], proven: list[Automorphism]) -> GameSymmetries:
    verified = {element.bases.tobytes() for element in proven}
    return GameSymmetries(
        np.array([element.bases for element in group], np.int32),
        np.array([element.moves for element in group], np.int32),
        np.array([element.roles != group[0].roles for element in group], np.bool_),
        np.array([element.bases.tobytes() in verified for element in group], np.bool_),
    )
