"""The machine is asked about made-up states: what may be done in them, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.recognition.encoding import KEEPER, Encoding
from propnet.jit.arrays import Flags, Ints, Octets, Words
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine

_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Followers:
    """What follows some states by all legal moves, in the order of states and moves; whether a state is
    terminal does not matter.

    Attributes:
        rows: int64, shape (m,): which state each one follows.
        moves: int64, shape (m,): by which move.
        status: uint8, shape (m, squares).
        sound: bool, shape (m,): whether its propositions say these statuses and nothing else, clocks aside.
    """

    rows: Ints
    moves: Ints
    status: Octets
    sound: Flags


class Probe:
    """Asks one machine in the words of one encoding.

    Attributes:
        machine, encoding: these.
        clocks: int64: the base propositions that are clocks. Their values come from a row of values, or are
            the initial ones.
    """

    def __init__(self, machine: PropnetMachine, encoding: Encoding, clocks: Flags) -> None:
        self.machine, self.encoding = machine, encoding
        self.clocks = np.flatnonzero(clocks)
        self._moves = machine.network.move_count
        self._steady = ~clocks

    def reading(self, encoding: Encoding) -> Probe:
        """The same with another encoding."""
        return Probe(self.machine, encoding, ~self._steady)

    def records(self, status: Octets, clock: Flags | None = None) -> Words:
        """The machine's records of statuses, uint8 (n, squares), with these values of clocks, bool
        (n, clocks)."""
        bits = self.encoding.bits(status)
        if clock is not None:
            bits[:, self.clocks] = clock
        return pack(bits)

    def legal(self, status: Octets, clock: Flags | None = None) -> Flags:
        """The legal moves, bool (n, moves)."""
        parts = [np.zeros((0, self._moves), np.bool_)]
        for low in range(0, len(status), _ROWS):
            given = self.machine.evaluate(self.records(status[low : low + _ROWS], _some(clock, low)))
            parts.append(unpack(given.legal, self._moves))
        return np.concatenate(parts)

    def followers(self, status: Octets, clock: Flags | None = None) -> Followers:
        """What follows these statuses."""
        parts: list[Followers] = []
        for low in range(0, max(1, len(status)), _ROWS):
            some = status[low : low + _ROWS]
            ticks = _some(clock, low)
            rows, moves = np.nonzero(self.legal(some, ticks))
            after = self.after(some[rows], moves, None if ticks is None else ticks[rows])
            parts.append(Followers(rows + low, moves, *after))
        return Followers(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.moves for part in parts]),
            np.concatenate([part.status for part in parts]),
            np.concatenate([part.sound for part in parts]),
        )

    def after(self, status: Octets, moves: Ints, clock: Flags | None = None) -> tuple[Octets, Flags]:
        """What follows one move in each of these statuses: statuses, and whether they are sound."""
        records = self.records(status, clock)
        bits = unpack(self.machine.successors(records, moves.astype(np.int32)[:, None]), len(self._steady))
        following = self.encoding.status(bits)
        said = self.encoding.bits(following)
        return following, (said == bits)[:, self._steady].all(axis=1)


def _some(clock: Flags | None, low: int) -> Flags | None:
    return None if clock is None else clock[low : low + _ROWS]


def keepers_at(squares: int, places: Ints) -> Octets:
    """Statuses with the keeper on each of these squares, and nothing else."""
    status = np.zeros((len(places), squares), np.uint8)
    status[np.arange(len(places)), places] = KEEPER
    return status
