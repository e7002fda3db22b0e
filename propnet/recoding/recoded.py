"""A machine over a recoded network, and its records turned into those of the machine before, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propnet.expander import Expander
from propnet.jit.arrays import Words
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.recoding.coding import Codec, Coding
from propnet.recoding.find import find_coding
from propnet.recoding.recode import recode
from propnet.recoding.samples import sample_states

COUNTEREXAMPLES = 4096
"""States that broke a coding which are kept of each chunk of successors, at most."""


@dataclass(frozen=True, slots=True)
class Recoded:
    """A game whose states are records of few bits.

    ``key_mask`` takes the step clocks of the coding away (:func:`propnet.analysis.cones.step_clocks`). States
    that differ in these alone have the same moves, and their successors differ in these alone; but the end of
    the match, and so the goals, may depend on them. Whoever masks them must look at states that end with the
    clocks on, and begin anew with clocks in the key where it was only the clock that ended a line.

    Attributes:
        original: the machine whose records :meth:`encode` takes.
        machine: the machine over the recoded network; moves and their ids are the same.
        coding: what the bits mean.
        key_bits: how many of the first bits of a record tell states apart, clocks apart.
        key_mask, clock_mask: uint64, shape (words,): which bits of a record are the key, and the clocks.
        codec: turns the bits of single states into codes.
        counterexamples: states of the original machine, uint64 (m, original.words), that codings before this
            one did not fit.
        broken_bit: the topmost bit; a record that has it, and all that follow from it, are of no use: the
            coding does not fit the game (:meth:`mended` finds another one).
    """

    original: PropnetMachine
    machine: PropnetMachine
    coding: Coding
    key_bits: int
    key_mask: Words
    clock_mask: Words
    broken_bit: int
    codec: Codec
    counterexamples: Words

    @classmethod
    def find(cls, machine: PropnetMachine, counterexamples: Words | None = None, seed: int = 0) -> Recoded:
        """Recode a machine's network as samples of its states suggest
        (:func:`propnet.recoding.find.find_coding`); the same seed gives the same coding."""
        samples = sample_states(machine, seed=seed)
        return cls.of(machine, find_coding(machine, samples, counterexamples), counterexamples)

    @classmethod
    def of(cls, machine: PropnetMachine, coding: Coding, counterexamples: Words | None = None) -> Recoded:
        """Recode a machine's network. Raises ValueError for a coding of another number of propositions."""
        bit = np.arange(coding.bits)
        return cls(
            original=machine,
            machine=PropnetMachine(machine.rules, recode(machine.network, coding)),
            coding=coding,
            key_bits=coding.key_bits,
            key_mask=pack((bit < coding.key_bits)[None, :])[0],
            clock_mask=pack(((bit >= coding.key_bits) & (bit < coding.broken_bit))[None, :])[0],
            broken_bit=coding.broken_bit,
            codec=Codec(coding, machine.network.initial),
            counterexamples=_no_records(machine) if counterexamples is None else counterexamples,
        )

    def encode(self, records: Words) -> Words:
        """The records, uint64 (n, machine.words), of states of the original machine, uint64
        (n, original.words); states that do not fit have the broken bit."""
        return pack(self.codec.encode(unpack(records, self.coding.bases)))

    def decode(self, coded: Words) -> Words:
        """The original machine's records of records of this one; those that have the broken bit give any."""
        return pack(self.codec.decode(unpack(coded, self.coding.bits)))

    def is_broken(self, coded: Words) -> bool:
        """Whether some record of these, uint64 (n, machine.words), has the broken bit."""
        word = np.bitwise_or.reduce(coded[:, self.broken_bit >> 6], axis=0)
        return bool(int(word) >> (self.broken_bit & 63) & 1)

    def mended(self, parents: Words) -> Recoded:
        """Another recoding, which the successors of these states fit as well as all that was known to break
        codings before.

        ``parents`` are records of this machine, uint64 (n, machine.words), without the broken bit; some have
        successors with it. All records of this machine are of no use for the other one: decode the states of
        a search, or begin it anew. It takes few attempts: none finds a coding that was refuted before.
        """
        states = self.decode(parents)
        found = [self.counterexamples]
        for chunk in Expander(self.original).stream(states):
            bits = self.codec.encode(unpack(chunk.records, self.coding.bases))
            broken = np.flatnonzero(bits[:, self.broken_bit])[:COUNTEREXAMPLES]
            found.append(chunk.records[broken])
        return Recoded.find(self.original, np.concatenate(found))


def _no_records(machine: PropnetMachine) -> Words:
    return np.zeros((0, machine.words), np.uint64)
