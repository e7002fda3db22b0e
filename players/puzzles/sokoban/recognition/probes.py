"""Query the machine about constructed states: their legal moves, their successors, the goals, and the course
of the step counter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY, KEEPER, Encoding
from propnet.jit.arrays import Flags, Ints, Octets, Words
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network

_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Followers:
    """The successors of some states by all legal moves, in the order of states and moves, even of terminal
    states.

    Attributes:
        rows: int64, shape (m,): the state of each successor.
        moves: int64, shape (m,): the move to each successor.
        status: uint8, shape (m, squares).
        sound: bool, shape (m,): whether its propositions are exactly those of these statuses, apart from
            clocks.
    """

    rows: Ints
    moves: Ints
    status: Octets
    sound: Flags


class Probe:
    """Queries one machine in one encoding.

    Attributes:
        machine, encoding: the machine and the encoding.
        clocks: int64: the base propositions that are clocks. Their values come from a row of values, or are
            the initial ones.
    """

    def __init__(self, machine: PropnetMachine, encoding: Encoding, clocks: Flags) -> None:
        self.machine, self.encoding = machine, encoding
        self.clocks = np.flatnonzero(clocks)
        self._moves = machine.network.move_count
        self._steady = ~clocks

    def records(self, status: Octets, clock: Flags | None = None) -> Words:
        """Return the machine's records of statuses, uint8 (n, squares), with these values of clocks, bool (n,
        clocks)."""
        bits = self.encoding.bits(status)
        if clock is not None:
            bits[:, self.clocks] = clock
        return pack(bits)

    def legal(self, status: Octets, clock: Flags | None = None) -> Flags:
        """Return the legal moves, bool (n, moves)."""
        parts = [np.zeros((0, self._moves), np.bool_)]
        for low in range(0, len(status), _ROWS):
            given = self.machine.evaluate(self.records(status[low : low + _ROWS], _some(clock, low)))
            parts.append(unpack(given.legal, self._moves))
        return np.concatenate(parts)

    def followers(self, status: Octets, clock: Flags | None = None) -> Followers:
        """Return the successors of these statuses."""
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
        """Return the results of one move in each of these statuses: statuses, and whether they are sound."""
        records = self.records(status, clock)
        bits = unpack(self.machine.successors(records, moves.astype(np.int32)[:, None]), len(self._steady))
        following = self.encoding.status(bits)
        encoded = self.encoding.bits(following)
        return following, (encoded == bits)[:, self._steady].all(axis=1)


def _some(clock: Flags | None, low: int) -> Flags | None:
    return None if clock is None else clock[low : low + _ROWS]


def keepers_at(squares: int, places: Ints) -> Octets:
    """Return statuses with the keeper on each of these squares, and nothing else."""
    status = np.zeros((len(places), squares), np.uint8)
    status[np.arange(len(places)), places] = KEEPER
    return status


def goal_squares(probe: Probe, best: int) -> list[int] | None:
    """Return the goals, ascending; None if the best goal value does not depend on the boxes in one of the
    ways known here. The result is still to be checked."""
    for every in (_every_goal_has_a_box, _every_box_is_on_a_goal, _every_kind_is_on_a_goal):
        goals = every(probe, best)
        if goals is not None:
            return goals
    return None


def _every_goal_has_a_box(probe: Probe, best: int) -> list[int] | None:
    """Find goals with boxes of all kinds everywhere: the best value is lost if the box on a goal is
    missing."""
    squares = probe.encoding.squares
    status = np.full((squares + 1, squares), BOX, np.uint8)
    status[np.arange(squares), np.arange(squares)] = EMPTY
    good = _is_best(probe, _with_all_kinds(probe, status), best)
    return np.flatnonzero(~good[:-1]).tolist() or None if good[-1] else None


def _every_box_is_on_a_goal(probe: Probe, best: int) -> list[int] | None:
    """Find goals without boxes: the best value is lost if a single box is not on a goal."""
    squares = probe.encoding.squares
    found: list[list[int]] = []
    for kind in range(len(probe.encoding.kinds)):
        status = np.zeros((squares + 1, squares), np.uint8)
        status[np.arange(squares), np.arange(squares)] = BOX + kind
        good = _is_best(probe, probe.encoding.bits(status), best)
        if not good[-1]:
            return None
        found.append(np.flatnonzero(good[:-1] & probe.encoding.can_hold).tolist())
    return _the_same(found)


def _every_kind_is_on_a_goal(probe: Probe, best: int) -> list[int] | None:
    """Find goals with boxes of all kinds but one everywhere, and one box of that kind on each square in
    turn."""
    squares = probe.encoding.squares
    found: list[list[int]] = []
    for kind in range(len(probe.encoding.kinds)):
        bits = _with_all_kinds(probe, np.full((squares, squares), BOX, np.uint8))
        content, _ = probe.encoding.rows[1 + kind]
        bits[:, content.bases] = content.squares == np.arange(squares)[:, None]
        found.append(np.flatnonzero(_is_best(probe, bits, best)).tolist())
    return _the_same(found)


def _the_same(found: list[list[int]]) -> list[int] | None:
    """Return the goals of all kinds of boxes if they are the same."""
    return found[0] or None if all(goals == found[0] for goals in found) else None


def _with_all_kinds(probe: Probe, status: Octets) -> Flags:
    """Return the propositions of statuses; a square with a box has boxes of all kinds."""
    encoding = probe.encoding
    bits = encoding.bits(status)
    for content, _ in encoding.rows[1 : 1 + len(encoding.kinds)]:
        bits[:, content.bases] = status[:, content.squares] >= BOX
    return bits


def _is_best(probe: Probe, bits: Flags, best: int) -> Flags:
    """Return whether states have the best goal value."""
    good: Flags = probe.machine.evaluate(pack(bits)).goals[:, 0] == best
    return good


_CHUNK = 512
_MOST_STEPS = 200_000


class Clock:
    """Base propositions that no move influences, as a machine of their own.

    Attributes:
        bases: int64: these base propositions.
    """

    def __init__(self, network: Network, clocks: Flags) -> None:
        self.bases = np.flatnonzero(clocks)
        literals = network.next_literals[self.bases]
        self._from, self._turned = literals >> 1, (literals & 1).astype(np.bool_)
        self._gates = _gates_below(network, self._from.tolist())
        self._now = np.zeros(network.nodes, np.bool_)
        self._now[0] = True
        self._truth: dict[int, bool] = {0: True}
        self._inputs: list[int] = (1 + self.bases).tolist()
        self._outputs: list[int] = self._from.tolist()

    def run(self, values: Flags) -> Iterator[Flags]:
        """Yield the values from these on, bool (at most 512, clocks) at a time, until they repeat."""
        seen: set[bytes] = set()
        rows: list[Flags] = []
        follow = self._by_gates if self._gates else self._shifted
        while len(seen) < _MOST_STEPS and (key := values.tobytes()) not in seen:
            seen.add(key)
            rows.append(values)
            if len(rows) == _CHUNK:
                yield np.array(rows)
                rows = []
            values = follow(values)
        if rows:
            yield np.array(rows)

    def _shifted(self, values: Flags) -> Flags:
        """Return the next values if each is one of the old ones."""
        self._now[1 + self.bases] = values
        following: Flags = self._now[self._from] ^ self._turned
        return following

    def _by_gates(self, values: Flags) -> Flags:
        """Return the next values by the gates. There are few: plain Python is faster than numpy."""
        now = self._truth
        for base, value in zip(self._inputs, values.tolist(), strict=True):
            now[base] = value
        for node, plain, negated in self._gates:
            truth = True
            for read in plain:
                if not now[read]:
                    truth = False
                    break
            else:
                for read in negated:
                    if now[read]:
                        truth = False
                        break
            now[node] = truth
        return np.array([now[node] for node in self._outputs]) ^ self._turned


def _gates_below(network: Network, wanted: list[int]) -> list[tuple[int, list[int], list[int]]]:
    """Return the gates on which these nodes depend, in order: node, plain inputs, negated inputs."""
    first = network.first_gate
    found: dict[int, tuple[int, list[int], list[int]]] = {}
    waiting = list(wanted)
    while waiting:
        node = waiting.pop()
        if node < first or node in found:
            continue
        low, high = network.gate_start[node - first : node - first + 2].tolist()
        literals = network.gate_inputs[low:high].tolist()
        plain = [x >> 1 for x in literals if not x & 1]
        negated = [x >> 1 for x in literals if x & 1]
        found[node] = node, plain, negated
        waiting += plain + negated
    return [found[node] for node in sorted(found)]
