"""Whether renamings are automorphisms of a game as far as some thousands of states of random play tell."""

from __future__ import annotations

import numpy as np

from players.move_lists import draw_moves, unpack_moves
from propnet.jit.arrays import Words
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.symmetries.group import Automorphism

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
