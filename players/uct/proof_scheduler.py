"""Proof search together with a search tree: its share of the time, and the results it proves for the root's
moves.

The share follows an estimate of the work: with n moves to the end and b choices on average at least about
b^(n/2) states have to be seen (Knuth and Moore 1975). The estimate is compared with the number of states that
can be opened in a turn; both are measured. Trust in the estimate is learnt from turn to turn.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from players.companions import BatchReport, Companion
from players.player import MARGIN
from players.proof.graph import FAR
from players.proof.search import Proof, warm_up

if TYPE_CHECKING:
    from players.uct.tree.tree import Tree
    from propnet.machine import PropnetMachine

_LARGEST_SHARE = 0.85
_USUAL_SHARE = 0.04
"""The share if the estimate leaves no hope: wins by a few forced moves are found all the same."""
_SMALLEST_SHARE = 0.02
_FADE = 0.8
"""The factor on the smallest share after each turn in which nothing is proven."""
_RAMP = 6.0
"""The share grows while the estimate (a natural logarithm) falls by this much, ..."""
_HOPE = 8.0
"""... beginning where the estimate exceeds the states that can be opened by this much."""
_LEARNT = 1.0
"""Change of this hope after a turn, ..."""
_MOST_LEARNT = 6.0
"""... and all turns together at most."""
_LONGEST_SLICE = 0.02
"""Most seconds of CPU time at once: a process reads commands only between two steps."""
_NEWS_SECONDS = 0.2
"""Seconds between two updates of the tree with proven moves."""
_SAMPLED = 16
"""Batches between two estimates, ..."""
_SAMPLE = 256
"""... each from the choices in this many of the states opened last."""
_FIRST_RATE = 2e5
"""States opened a second, before this is measured."""
_EARNEST = 1.0
"""Seconds of CPU time without success after which the estimate is trusted less."""


class ProofScheduler(Companion):
    """Proves results that a role can force. ``best`` is the id of the move that secures the result; -1 while
    unknown or if the role has no choice."""

    name = "proof search"
    least = 0.01

    def __init__(self, machine: PropnetMachine, role: int, memory: int) -> None:
        """``memory``: bytes for the states."""
        warm_up()
        self._proof = Proof(machine, role, memory)
        self._role = role
        self._root: NDArray[np.uint64] | None = None
        self._begun = self._followed = False
        self._hope = _HOPE
        self._least = _USUAL_SHARE
        self._rate = _FIRST_RATE
        self._turn = 1.0
        self._length = self._choices = self._mean = -1.0
        self._batches = 0
        self._turn_end = 0.0
        self._spent = self._heard = self._owed = 0.0
        self.value = self.best = -1

    def set_root(self, tree: Tree) -> None:
        """Search from the root of this tree from the next step on; its nodes serve to estimate the work."""
        if self._begun:
            self._judge_turn()
        self._tree = tree
        self._root = tree.arrays.records[tree.root].copy()
        self._begun = self._followed = False
        self._spent = 0.0
        self._mean = -1.0
        self._batches = 0
        self.value = self.best = -1

    def follow(self, record: NDArray[np.uint64]) -> None:
        """Go on from this state, which a move of the role leads to, if the move's value is not known. The
        root stays the same for all other purposes."""
        if self.value < 0 and self._begun:
            self._followed = True
            self._proof.set_root(record, self._guess())

    @property
    def active(self) -> bool:
        """Whether there is anything to do. The tree does its first batch before that, which the estimate
        needs."""
        begun = self._root is not None and self._batches > 0
        return begun and self._proof.fits and not (self._begun and self._proof.finished)

    @property
    def adds_to_100(self) -> bool:
        """Whether the goals of two roles added up to 100 at all ends it has seen."""
        return self._proof.constant_sum and self._proof.total in (100, None)

    def opening_credit(self, left: float, credit: float) -> float:
        return self.least

    def note_batch(self, report: BatchReport) -> None:
        self._turn_end = time.monotonic() + report.left - MARGIN
        self._batches += 1
        if (self._batches - 1) % _SAMPLED == 0:
            arrays, length, mean = self._tree.arrays, report.length, report.mean
            opened = arrays.opened[: arrays.used[0]["opened"]][-_SAMPLE:]
            choices = float(np.log(np.maximum(1, arrays.nodes["choices"][opened])).mean())
            self._choices = choices if self._choices < 0 else (self._choices + choices) / 2
            self._length = length if self._length < 0 else (self._length + length) / 2
            self._mean = mean if self._mean < 0 else (self._mean + mean) / 2
            self._turn = max(report.left, self._turn if self._begun else 1.0)
            share = self.share
            self._owed = share / (1.0 - share)

    @property
    def rate(self) -> float:
        return self._owed

    @property
    def share(self) -> float:
        """The share of all time that it asks for."""
        if not self.active:
            return 0.0
        effort = self._length * self._choices / 2
        room = math.log(self._rate * self._turn)
        hope = min(1.0, max(0.0, (room + self._hope - effort) / _RAMP))
        return self._least + (_LARGEST_SHARE - self._least) * hope

    def step(self, deadline: float) -> bool:
        began, clock = time.monotonic(), time.thread_time()
        proof = self._proof
        if not self._begun:
            assert self._root is not None
            proof.set_root(self._root, self._guess())
            self._begun = True
            self._heard = began
        opened = proof.opened
        proof.step(min(began + _LONGEST_SLICE, deadline), self._turn_end)
        now = time.monotonic()
        # Count the CPU time: other processes may use the processor too.
        used = max(time.thread_time() - clock, 1e-6)
        self._spent += used
        if proof.opened > opened:
            self._rate += 0.05 * ((proof.opened - opened) / used - self._rate)
        due = proof.finished or now - self._heard >= _NEWS_SECONDS
        self.news = due and proof.fits and not self._followed
        if self.news:
            self._heard = now
        return not self.active

    def _judge_turn(self) -> None:
        """Learn from the last root how far to trust the estimate."""
        if self.value >= 0:
            self._least = 2 * _USUAL_SHARE
            if self._spent > _NEWS_SECONDS:
                self._hope = min(self._hope + _LEARNT, _HOPE + _MOST_LEARNT)
        else:
            self._least = max(_SMALLEST_SHARE, _FADE * self._least)
            if self._spent > _EARNEST:
                self._hope = max(self._hope - _LEARNT, _HOPE - _MOST_LEARNT)

    def _guess(self) -> float:
        return self._mean if self._mean >= 0 else 0.5

    def tell(self, tree: Tree, exact: bool) -> None:
        """Set ``value`` and ``best`` by the results proven so far.

        With ``exact`` (two roles whose goals add up to 100) the tree, whose root is the same, gets the
        results of single moves too: it no longer searches moves that are proven to lose. Of several winning
        moves it gets only the shortest, so that this one is made."""
        proof = self._proof
        answers = proof.answers()
        if not len(answers.moves):
            return
        low, high = answers.low.astype(np.int64), answers.high.astype(np.int64)
        choosing = np.flatnonzero((answers.moves != answers.moves[0]).any(axis=0)).tolist()
        best = -1
        if proof.solved:
            self.value = proof.bounds.low
            # If all moves lose, the tree knows best which of them is hard to answer.
            if choosing == [self._role] and self.value > 0:
                length = answers.length.astype(np.int64)
                best = int(np.argmin(np.where(low >= self.value, length, 2 * FAR)))
                self.best = int(answers.moves[best, self._role])
        # The tree may have left out moves of the root that lose at once.
        if not exact or choosing != [int(tree.arrays.nodes["to_move"][tree.root])]:
            return
        to_move = choosing[0]
        edges = tree.edges(tree.root, to_move)
        place = {move: edges.start + i for i, move in enumerate(tree.arrays.edges["move"][edges].tolist())}
        won = proof.most if to_move == self._role else -1
        for i in np.flatnonzero((low == high) & ((low != won) | (np.arange(len(low)) == best))).tolist():
            edge = place.get(int(answers.moves[i, to_move]), -1)
            if edge >= 0:
                value = int(low[i]) if self._role == 0 else 100 - int(low[i])
                tree.arrays.edges["proven"][edge] = value
