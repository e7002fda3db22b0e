"""The states of a game as words with a rank: one state of each orbit, recoded."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gdl.errors import GdlError
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.pipeline import ground as ground_rules
from players.strong.ranked.rank import MOST_RANKS, Differences, Rank, StateCodec, find_weights, kinds_of
from propnet.expander import Expander
from propnet.jit.arrays import Words
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.recoding.recoded import Recoded
from propnet.recoding.samples import sample_states
from propnet.symmetries.canonical import Orbits, saving
from propnet.symmetries.group import automorphisms

_ATTEMPTS = 12
"""Most further attempts to find the rank and the coding."""

_SAMPLES = 3000


class UnfitError(Exception):
    """The game has no rank that was found, or its states are longer than a word."""


class BrokenSpaceError(Exception):
    """Some successors of these states do not fit the coding, or their rank is not above that of the states.

    Attributes:
        records: uint64, shape (n, 1): the states.
    """

    def __init__(self, records: Words) -> None:
        super().__init__()
        self.records = records


@dataclass(frozen=True, slots=True)
class RankedSpace:
    """The coding of states as words.

    Attributes:
        original: the game's machine.
        orbits: of its states, None if each state represents itself.
        recoded: the game in few bits, over states that represent their orbits.
        codec: from a state to its word and rank.
        kinds: int8 (n, bases of the original): changes of states that the rank was found from.
        attempts: number of further spaces that may be tried.
    """

    original: PropnetMachine
    orbits: Orbits | None
    recoded: Recoded
    codec: StateCodec
    kinds: Differences
    attempts: int = _ATTEMPTS

    @classmethod
    def find(cls, machine: PropnetMachine, symmetry: bool = True) -> RankedSpace:
        """The space of a game. With ``symmetry``, one state represents all its images under automorphisms, if
        that pays. Raises UnfitError."""
        orbits = _paying(machine) if symmetry else None
        if machine.network.bases and len(machine.network.bases) > 2000:
            raise UnfitError
        samples = sample_states(machine)
        kinds = _changes(machine, samples[:_SAMPLES], orbits)
        space = _space_of(machine, orbits, Recoded.find(_game(machine, orbits)), kinds, _ATTEMPTS)
        words = space.recoded.encode(samples if orbits is None else orbits.canonical(samples))
        if int(space.rank.many(words[:, 0]).max()) > MOST_RANKS:
            raise UnfitError
        return space

    @classmethod
    def again(cls, machine: PropnetMachine, codec: StateCodec) -> RankedSpace:
        """The space of a checkpoint."""
        orbits = _orbits(machine) if len(codec.sources) else None
        kinds = _changes(machine, sample_states(machine)[:_SAMPLES], orbits)
        return cls(machine, orbits, Recoded.of(_game(machine, orbits), codec.coding), codec, kinds)

    def refitted(self, records: Words) -> RankedSpace:
        """Another space, which the successors of these states (n, 1) fit. Raises UnfitError."""
        if not self.attempts:
            raise UnfitError
        states = self.recoded.decode(records)
        kinds = np.concatenate([_changes(self.original, states, self.orbits), self.kinds])
        recoded = self.recoded.mended(records)
        return _space_of(self.original, self.orbits, recoded, kinds_of(kinds), self.attempts - 1)

    @property
    def broken(self) -> np.uint64:
        """The bit of words that do not fit the coding."""
        return np.uint64(1 << self.recoded.broken_bit)

    @property
    def rank(self) -> Rank:
        """The rank of the words."""
        return self.codec.rank

    @property
    def symmetries(self) -> int:
        """Number of automorphisms, the identity included."""
        return 1 + len(self.codec.sources)

    def start(self) -> Words:
        """The word of the initial state, uint64 (1,)."""
        game = self.recoded.original
        return self.recoded.encode(game.records([game.initial_state()]))[:, 0]

    def new_machine(self) -> PropnetMachine:
        """A machine over words, for one more thread."""
        machine = self.recoded.machine
        return PropnetMachine(machine.rules, machine.network)


def _game(machine: PropnetMachine, orbits: Orbits | None) -> PropnetMachine:
    """The machine over states that represent their orbits."""
    return machine if orbits is None else PropnetMachine(machine.rules, orbits.canonical_network())


def _orbits(machine: PropnetMachine) -> Orbits | None:
    """The orbits under the automorphisms of the game; None if there are none."""
    network = machine.network
    group = automorphisms(network, _ground(machine))
    return None if len(group) == 1 else Orbits(network, group)


def _paying(machine: PropnetMachine) -> Orbits | None:
    """The same, if they save more than they cost; else None."""
    orbits = _orbits(machine)
    return orbits if orbits is not None and saving(orbits, orbits.canonical_network()).pays else None


def _ground(machine: PropnetMachine) -> GroundRules | None:
    """The ground rules, if they fit the machine's network: they show symmetries that passes have hidden."""
    try:
        found = ground_rules(machine.rules)
    except GdlError:
        return None
    return found if len(found.bases) == len(machine.network.bases) else None


def _changes(machine: PropnetMachine, states: Words, orbits: Orbits | None) -> Differences:
    """The different changes that moves make of these states, int8 (n, bases); 0 for propositions that do not
    count."""
    bases = len(machine.network.bases)
    found: Differences = np.zeros((0, bases), np.int8)
    for chunk in Expander(machine, 1 << 13).stream(states):
        before = unpack(states[chunk.parents], bases).astype(np.int8)
        after = unpack(chunk.records, bases).astype(np.int8)
        change: Differences = after - before
        if orbits is not None:
            change[:, orbits.unobserved] = 0
        found = kinds_of(np.concatenate([found, change]))
    return found


def _space_of(
    machine: PropnetMachine, orbits: Orbits | None, recoded: Recoded, kinds: Differences, attempts: int
) -> RankedSpace:
    if recoded.machine.words != 1 or recoded.broken_bit > 63:
        raise UnfitError
    none = np.zeros(0, np.int64)
    bases = len(machine.network.bases)
    sources = np.zeros((0, bases), np.int64) if orbits is None else orbits.sources
    found = find_weights(kinds, list(sources)) if len(kinds) else (np.zeros(bases), True)
    if found is None:
        raise UnfitError
    codec = StateCodec(
        recoded.coding,
        recoded.original.network.initial,
        sources,
        none if orbits is None else orbits.order,
        none if orbits is None else orbits.unobserved,
        Rank(*(np.zeros(0, np.uint64),) * 2, none, none, 0),
    )
    space = RankedSpace(machine, orbits, recoded, codec, kinds, attempts)
    rank = Rank.of(found[0], found[1], recoded.coding, space.start()[0])
    if rank is None:
        raise UnfitError
    return replace(space, codec=replace(codec, rank=rank))
