"""`find_symmetries`: the symmetries of a game, those that are proven and those that play shows alone.

Proven are automorphisms that :mod:`propnet.symmetries` has verified gate by gate. It sees how rules are
written: that a chain of stones joins left to right just if it joins right to left, or that discs are as many
whatever the order they are counted in, it does not see. So turns of the board
(:mod:`players.uct.training.renamings`) are tried in some thousands of states besides. What passes is good
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
from players.move_lists import draw_moves, unpack_moves
from players.uct.training.renamings import renamings
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import lowest_bit
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.symmetries.group import EFFORT, MOST_INPUTS, Automorphism, automorphisms, closure

_LANES, _STEPS = 256, 400
_EFFORT = 100_000_000
"""Gate inputs that may be looked at, each for all lanes, to play at random: about 0.1 seconds."""
_STATES = 4096
"""States that are looked at: half of them terminal ones, if there are as many."""
_SPARSE = 4
"""One in so many of them has its legal moves compared: there may be thousands of moves."""


class PlayTest:
    """Compares states of random play, of all depths, with their images."""

    def __init__(self, machine: PropnetMachine, seed: int = 0) -> None:
        self._machine = machine
        self._rng = np.random.default_rng(seed)
        self._records = self._sample()
        self._seen = machine.evaluate(self._records)
        counts, moves = unpack_moves(self._seen.legal, machine.role_moves)
        self._moves = draw_moves(counts, moves, self._rng)
        following = machine.successors(self._records, self._moves)
        bases = len(machine.network.bases)
        self._before, self._after = (unpack(records, bases) for records in (self._records, following))

    def __len__(self) -> int:
        """How many states are compared."""
        return len(self._records)

    def passes(self, renaming: Automorphism) -> bool:
        """Whether images have the images of legal moves, the goals, and the images of next states; not where
        no state was met."""
        if not len(self):
            return False
        machine, seen = self._machine, self._seen
        source, roles = np.argsort(renaming.bases), np.array(renaming.roles)
        images = pack(self._before[:, source])
        answer = machine.evaluate(images)
        if (answer.terminal != seen.terminal).any() or (answer.goals[:, roles] != seen.goals).any():
            return False
        going = ~seen.terminal
        moves, some = int(machine.role_moves[-1]), np.flatnonzero(going)[::_SPARSE]
        legal = unpack(seen.legal[some], moves)[:, np.argsort(renaming.moves)]
        if (unpack(answer.legal[some], moves) != legal).any():
            return False
        joint = np.empty_like(self._moves)
        for role, image in enumerate(renaming.roles):
            made = renaming.moves[machine.role_moves[role] + self._moves[:, role]]
            joint[:, image] = made - machine.role_moves[image]
        following = machine.successors(images, joint)
        return bool((following == pack(self._after[:, source]))[going].all())

    def _sample(self) -> Words:
        """States of random matches, one after the other in each lane."""
        machine = self._machine
        start = machine.records([machine.initial_state()])
        records = np.repeat(start, _LANES, axis=0)
        met, over = [], []
        for _ in range(max(16, min(_STEPS, _EFFORT // max(1, len(machine.network.gate_inputs))))):
            answer = machine.evaluate(records)
            counts, moves = unpack_moves(answer.legal, machine.role_moves)
            ended = answer.terminal | (counts == 0).any(axis=1)
            met.append(records[~ended])
            over.append(records[ended])
            records = machine.successors(records, draw_moves(counts, moves, self._rng))
            records[ended] = start
        ends = self._some(np.concatenate(over), _STATES // 2)
        return np.concatenate([self._some(np.concatenate(met), _STATES - len(ends)), ends])

    def _some(self, records: Words, most: int) -> Words:
        drawn = self._rng.permutation(len(records))[: 2 * most]
        different: Words = np.unique(records[drawn], axis=0)
        if len(different) > most:
            different = different[self._rng.choice(len(different), most, replace=False)]
        return different


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
    effort: int = EFFORT,
    inputs: int = MOST_INPUTS,
) -> GameSymmetries:
    """The symmetries of a machine's game, :data:`MOST` elements at most; the identity alone where none is
    found or the game is too large. No error is raised.

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
    proven = automorphisms(network, rules, MOST, exchange=exchange, effort=effort, inputs=inputs)
    try:
        group = _with_tested(machine, proven, MOST)
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


Singles = NDArray[np.float32]


@kernel(nogil=True)
def images_of(records: Words, images: Int32s, chosen: Int32s, out: Words) -> None:
    """Fill in, for each state, its image under one element: ``records`` and ``out`` uint64, shape (n, words);
    ``images`` as in :class:`GameSymmetries`, ``chosen`` int32, shape (n,)."""
    one = np.uint64(1)
    for row in range(records.shape[0]):
        element = chosen[row]
        for word in range(records.shape[1]):
            out[row, word] = np.uint64(0)
        for word in range(records.shape[1]):
            bits = records[row, word]
            while bits:
                to = np.int64(images[element, 64 * word + np.int64(lowest_bit(bits))])
                out[row, to >> 6] |= one << np.uint64(to & 63)
                bits &= bits - one


def random_images(
    symmetries: GameSymmetries, records: Words, values: Singles, rng: np.random.Generator
) -> tuple[Words, Singles]:
    """Random images of states, uint64, shape (n, words), and what these are worth, if the states are worth
    ``values``, 0..1, float32, shape (n, columns): a column for each of two roles, or one for role 0, where
    role 1 has what role 0 has not."""
    if len(symmetries) == 1:
        return records, values
    chosen = rng.integers(0, len(symmetries), len(records)).astype(np.int32)
    found = np.empty_like(records)
    images_of(np.ascontiguousarray(records), symmetries.images, chosen, found)
    exchanged = symmetries.exchanged[chosen]
    turned = values.copy()
    turned[exchanged] = 1 - values[exchanged] if values.shape[1] == 1 else values[exchanged][:, ::-1]
    return found, turned
