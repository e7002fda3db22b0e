"""`SymmetricStates`: states that symmetries map to each other are one node of the tree.

Below the root the smallest image of a state takes its place (symmetry reduction: E. Clarke and others,
1996). The root is a state of the match and stays what it is. If only an image of it is a node, that node
becomes the root: its moves are renamed. Of the root's moves that lead to images of each other the first alone
is searched.

Only proven automorphisms that keep the roles count, and usually only those that map the root to itself.
Others hardly ever make two states below it one, but turn states this way and that, so that what is known of
moves does not fit any more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gdl.errors import TooLargeError
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.limits import GroundLimits
from gdl.grounding.pipeline import ground
from players.batch_machine import BatchMachine, MoveLists, NetworkBatch, Records
from players.symmetries.image_kernels import images_of, smallest_images
from players.uct.tree.arrays import OPEN, Arrays
from propnet.kernels.record_table import find_record
from propnet.machine import PropnetMachine
from propnet.symmetries.group import automorphisms

_MOST = 32
"""Automorphisms at most."""
_EFFORT = 5_000_000
"""Visits of edges by the search for them: about 0.2 seconds."""
_INPUTS = 10_000
"""Networks with more gate inputs are not looked at: to ground their rules again takes too long."""
_SECONDS = 0.5
"""CPU time to ground them."""
ALL, OF_ROOT = "on", "auto"

Indices = NDArray[np.int32]


class SymmetricStates:
    """The automorphisms of a game as a tree needs them.

    Attributes:
        alike: for each role, move -> the first of the root's moves that are its images; empty where no moves
            are alike, or several roles choose.
    """

    def __init__(self, machine: PropnetMachine, images: Indices, moves: Indices, everywhere: bool) -> None:
        """``images`` and ``moves``: int32, shapes (elements, bases) and (elements, moves), the identity first
        (:class:`propnet.symmetries.group.Automorphism`). With ``everywhere`` all of them count at all times,
        not those alone that leave the root as it is."""
        self._first = machine.role_moves
        self._images, self._moves = images, moves
        self._everywhere = everywhere
        self._elements = np.arange(1, len(images), dtype=np.int32)
        self._used = self._elements if everywhere else self._elements[:0]
        self.alike: list[dict[int, int]] = []

    def of_new_nodes(self, records: Records) -> Records:
        """What takes the place of the states of new nodes: records, uint64, shape (n, words)."""
        if not len(self._used):
            return records
        found = np.empty_like(records)
        smallest_images(np.ascontiguousarray(records), self._images, self._used, found)
        return found

    def _fixing(self, record: Records) -> Indices:
        """The elements but for the identity that map a state, shape (words,), to itself."""
        fixing: Indices = self._elements[(self._images_of(record) == record).all(axis=1)]
        return fixing

    def _images_of(self, record: Records) -> Records:
        """The images of a state under all elements but the identity."""
        several = np.repeat(record[None, :], len(self._elements), axis=0)
        found = np.empty_like(several)
        images_of(several, self._images, self._elements, found)
        return found

    def find(self, arrays: Arrays, record: Records) -> int:
        """Let a node that is an image of this state, shape (words,), stand for the state itself: its number,
        -1 if there is none. The table of nodes is stale afterwards."""
        images = self._images_of(record)
        for place, element in enumerate(self._elements.tolist()):
            node = int(find_record(arrays.node_table, arrays.records, images, place))
            if node >= 0:
                arrays.records[node] = record
                if arrays.nodes["status"][node] == OPEN:
                    self._rename(arrays, node, np.argsort(self._moves[element]).astype(np.int32))
                return node
        return -1

    def _rename(self, arrays: Arrays, node: int, moves: Indices) -> None:
        """Give the moves of a node other names: int32, shape (moves of all roles,)."""
        edge = int(arrays.nodes["first_edge"][node])
        for role, count in enumerate(arrays.counts[node].tolist()):
            own = slice(edge, edge + count)
            first = self._first[role]
            arrays.edges["move"][own] = moves[first + arrays.edges["move"][own]] - first
            edge += count

    def at_root(self, record: Records, counts: Indices, moves: Indices) -> MoveLists:
        """Take another root: its record, shape (words,), and its legal moves, as those of one state in
        :meth:`players.batch_machine.BatchMachine.legal`. Returns the moves that are to be searched."""
        fixing = self._fixing(record)
        self._used = self._elements if self._everywhere else fixing
        roles = counts.shape[1]
        self.alike = [{} for _ in range(roles)]
        choosing = np.flatnonzero(counts[0] > 1)
        if not len(fixing) or len(choosing) != 1:
            return counts, moves
        role = int(choosing[0])
        first, low = int(self._first[role]), int(counts[0, :role].sum())
        own = moves[low : low + counts[0, role]]
        orbits = np.vstack([own, self._moves[fixing][:, first + own] - first]).min(axis=0)
        kept = np.unique(orbits)
        if len(kept) == 1:
            return counts, moves  # with a single move it would be nobody's turn
        self.alike[role] = dict(zip(own.tolist(), orbits.tolist(), strict=True))
        fewer = counts.copy()
        fewer[0, role] = len(kept)
        return fewer, np.concatenate([moves[:low], kept.astype(np.int32), moves[low + len(own) :]])


def symmetric_states(batched: BatchMachine, wanted: str) -> SymmetricStates | None:
    """The symmetries of a game of several roles, if they are ``wanted`` (:data:`ALL`, :data:`OF_ROOT`) and
    some are found."""
    if wanted not in (ALL, OF_ROOT) or not isinstance(batched, NetworkBatch):
        return None
    machine = batched.machine
    if len(machine.roles) < 2 or len(machine.network.gate_inputs) > _INPUTS:
        return None
    group = automorphisms(machine.network, _ground_rules(machine), _MOST, effort=_EFFORT)
    if len(group) == 1:
        return None
    images = np.array([element.bases for element in group], np.int32)
    moves = np.array([element.moves for element in group], np.int32)
    return SymmetricStates(machine, images, moves, wanted == ALL)


def _ground_rules(machine: PropnetMachine) -> GroundRules | None:
    """The rules that the network was built of: they show symmetries that passes hide."""
    if machine.ground is not None:
        return machine.ground
    try:
        found = ground(machine.rules, GroundLimits(cpu_seconds=_SECONDS))
    except TooLargeError:
        return None
    same = found.bases == machine.network.bases and found.moves == machine.network.moves
    return found if same else None


def passing(
    first: Callable[[Records], Records] | None, symmetric: SymmetricStates | None
) -> Callable[[Records], Records] | None:
    """What takes the place of new nodes' states: what ``first`` says, then the smallest image of that."""
    if symmetric is None:
        return first
    if first is None:
        return symmetric.of_new_nodes
    return lambda records: symmetric.of_new_nodes(first(records))
