"""The kind of game that a network is: proven where the result says so, otherwise observed in random playouts.

Random play shows whether roles move one at a time, what the others do meanwhile, and whether they are rivals.
Guides are checked as they play; no player relies on other facts that were only observed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.words import counted
from propnet.analysis.cones import clocks
from propnet.analysis.factors import factors
from propnet.analysis.ternary import (
    MOST_ROUNDS,
    Latches,
    Ternary,
    decided,
    latches,
    phases,
    reachable,
    unpack_cases,
)
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.network import Network

_ROWS, _STEPS = 32, 64
_ENDS, _LONGEST = 512, 1000


def forced_moves(machine: PropnetMachine) -> list[int] | None:
    """Per role the move it is forced to make when another role has a choice; -1 if that was not observed.
    None if two roles had a choice in one state, if one role was forced to different moves, or if one has no
    moves."""
    rng = np.random.default_rng(0)
    initial = np.repeat(machine.records([machine.initial_state()]), _ROWS, axis=0)
    bounds = list(pairwise(machine.role_moves.tolist()))
    if any(low == high for low, high in bounds):
        return None
    seen = [np.zeros(high - low, np.int64) for low, high in bounds]
    records = initial
    for _ in range(_STEPS):
        outputs = machine.evaluate(records)
        legal = unpack(outputs.legal, machine.network.move_count)
        counts = np.stack([legal[:, low:high].sum(axis=1) for low, high in bounds], axis=1)
        going = ~outputs.terminal & (counts > 0).all(axis=1)
        choosing = (counts > 1) & going[:, None]
        if (choosing.sum(axis=1) > 1).any():
            return None
        busy = choosing.any(axis=1)
        moves = np.zeros((_ROWS, len(bounds)), np.int32)
        for role, (low, high) in enumerate(bounds):
            mine = legal[:, low:high]
            moves[:, role] = np.argmax(np.where(mine, rng.random(mine.shape, np.float32), -1), axis=1)
            waits = busy & ~choosing[:, role]
            seen[role] += np.bincount(moves[waits, role], minlength=high - low)
        records = machine.successors(records, moves)
        records = np.where(going[:, None], records, initial)
    if any(np.count_nonzero(times) > 1 for times in seen):
        return None
    return [int(np.argmax(times)) if times.any() else -1 for times in seen]


def final_goals(
    machine: PropnetMachine, matches: int = _ENDS, seed: int = 0, longest: int = _LONGEST
) -> NDArray[np.integer]:
    """The goals of the roles at the end of random matches, shape (n, roles); -1 for a role without a goal.
    Matches that last ``longest`` moves or more are left out."""
    played = machine.playouts(matches, seed, max_steps=longest)
    goals: NDArray[np.integer] = played.goals[played.lengths < longest]
    return goals


def is_constant_sum(goals: NDArray[np.integer]) -> bool:
    """Whether there are :func:`final_goals`, every role has one in each match, and they add up to 100."""
    return len(goals) > 0 and not (goals < 0).any() and bool((goals.sum(axis=1) == 100).all())


def rivals(machine: PropnetMachine) -> bool:
    """Whether in random play no two roles got their best goals together, and with two roles one lost what
    the other won."""
    goals = final_goals(machine)
    best = np.zeros(len(machine.roles), np.int64)
    np.maximum.at(best, machine.network.goals[:, 0], machine.network.goals[:, 1])
    if ((goals >= best).sum(axis=1) > 1).any():
        return False
    sure = goals[(goals >= 0).all(axis=1)]
    return len(machine.roles) != 2 or not len(sure) or is_constant_sum(sure)


SINGLE = "single"
ALTERNATING = "alternating"
SIMULTANEOUS = "simultaneous"

_PLAYOUTS = 64
SECONDS = 2.0
_MOST_SIZE = 10_000
"""In networks with more gate inputs and base propositions, only latches show that a result is decided."""


@dataclass(frozen=True, slots=True)
class Classification:
    """The facts found about a game. Means and shares come from playouts.

    Attributes:
        roles: the number of roles.
        turns: ``single``, ``alternating`` or ``simultaneous``.
        turns_proven: whether it is proven that two roles never choose at once.
        both: share of the states in which more than one role had a choice.
        total: the sum of all roles' goals, if it was the same at every end; else None.
        options: mean number of legal moves of a role that had a choice.
        length: mean number of joint moves of the playouts that ended; 0 if none did.
        longest: joint moves after which a clock alone ends the match; None if there is none.
        bases: the number of base propositions that ever change.
        clocks: the number of these that no move influences.
        latches: the number of others that keep a value for ever once they have it.
        decided: share of the joint moves that were made when the result was already decided.
        factors: sizes of the independent parts, in base propositions; one for a game without such parts,
            none if finding them took too long.
        factor_kind: ``alternative`` (a move acts on one part), ``compound`` (on all), or "".
        seconds: CPU time of the classification.
    """

    roles: int
    turns: str
    turns_proven: bool
    both: float
    total: int | None
    options: float
    length: float
    longest: int | None
    bases: int
    clocks: int
    latches: int
    decided: float
    factors: tuple[int, ...]
    factor_kind: str
    seconds: float

    def __str__(self) -> str:
        words = [counted(self.roles, "role")]
        if self.roles > 1:
            seen = "" if self.turns_proven or self.turns == SIMULTANEOUS else " (seen)"
            words.append(self.turns + seen)
            if self.turns == SIMULTANEOUS:
                words.append(f"{self.both:.0%} of states with several choosing")
            if self.length:
                words.append("not constant-sum" if self.total is None else f"sum {self.total}")
        facts = (
            (self.length, counted(round(self.length), "turn")),
            (self.longest is not None, f"at most {self.longest}"),
            (self.options, f"{self.options:.1f} moves"),
            (True, f"{self.bases} propositions"),
            (self.clocks, f"{self.clocks} clocks"),
            (self.latches, f"{self.latches} latches"),
            (self.decided >= 0.01, f"{self.decided:.0%} of moves after the result is decided"),
        )
        words += [text for holds, text in facts if holds]
        if len(self.factors) > 1:
            sizes = ", ".join(map(str, self.factors[:8])) + (", ..." if len(self.factors) > 8 else "")
            words.append(f"{len(self.factors)} {self.factor_kind} factors ({sizes})")
        return ", ".join(words)

    def to_bytes(self) -> bytes:
        """JSON, which :meth:`from_bytes` reads."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Classification:
        """The classification that :meth:`to_bytes` wrote. Raises GdlError for other bytes."""
        try:
            fields = json.loads(data)
            return cls(**{**fields, "factors": tuple(map(int, fields["factors"]))})
        except (ValueError, TypeError, KeyError) as error:
            raise GdlError(f"this is not a classification: {error}") from None


def classify(network: Network) -> Classification:
    """Classify a game. The playouts take :data:`SECONDS` of CPU time, or one step; the proofs have limits of
    their own."""
    began = time.process_time()
    ternary = Ternary(network)
    latched = latches(ternary)
    steady = clocks(network)
    order, split = phases(ternary, steady), factors(network)
    clock = order.ticking if order is not None else steady
    seen = _play(ternary, latched, steady)
    roles = len(network.roles)
    proven = order is not None and order.alternating
    alternating = proven or seen.both == 0
    return Classification(
        roles=roles,
        turns=SINGLE if roles == 1 else ALTERNATING if alternating else SIMULTANEOUS,
        turns_proven=proven,
        both=seen.both,
        total=seen.total,
        options=round(seen.options, 1),
        length=round(seen.length, 1),
        longest=None if order is None else order.end,
        bases=int(np.count_nonzero(~latched.constant)),
        clocks=int(np.count_nonzero(clock)),
        latches=int(np.count_nonzero((latched.true | latched.false) & ~clock)),
        decided=round(seen.decided, 3),
        factors=() if split is None else tuple(sorted(np.bincount(split.bases[split.bases >= 0]).tolist())),
        factor_kind="" if split is None else split.kind,
        seconds=round(time.process_time() - began, 2),
    )


def build_classification(text: str, previous: bytes) -> Iterator[bytes]:
    """Classify the network in the bytes ``previous``, as a job of :mod:`players.kaskade.builder`."""
    from propnet.storage.network_bytes import from_bytes

    os.nice(10)
    yield classify(from_bytes(previous)).to_bytes()


@dataclass(frozen=True, slots=True)
class _Observed:
    """Fields of :class:`Classification` that come from playouts."""

    both: float
    total: int | None
    options: float
    length: float
    decided: float


def _play(ternary: Ternary, latched: Latches, steady: NDArray[np.bool_]) -> _Observed:
    """The results of random playouts side by side."""
    end = time.process_time() + SECONDS
    network = ternary.network
    size = len(network.gate_inputs) + len(network.bases)
    rounds = MOST_ROUNDS if size <= _MOST_SIZE else 0
    rng = np.random.default_rng(0)
    states = np.repeat(np.asarray(network.initial, np.bool_)[None], _PLAYOUTS, axis=0)
    alive = np.ones(_PLAYOUTS, np.bool_)
    length = np.zeros(_PLAYOUTS, np.int64)
    decided_at = np.full(_PLAYOUTS, -1)
    totals: set[int] = set()
    several = visited = choosing = options = 0
    while True:
        may = ternary.state(ternary.known(states))
        over = alive & unpack_cases(may[[network.terminal_literal]], _PLAYOUTS)[:, 0]
        totals |= _totals(network, unpack_cases(may[network.goals[:, 2]], _PLAYOUTS)[over])
        alive &= ~over
        legal = unpack_cases(may[network.legal_literals], _PLAYOUTS)
        moves = np.zeros_like(legal)
        chosen = np.zeros((_PLAYOUTS, len(network.roles)), np.int64)
        for role, (low, high) in enumerate(pairwise(ternary.role_offsets)):
            mine = legal[:, low:high]
            chosen[:, role] = np.count_nonzero(mine, axis=1)
            alive &= chosen[:, role] > 0
            if low < high:
                pick = np.where(mine, rng.random(mine.shape), -1).argmax(axis=1)
                moves[np.arange(_PLAYOUTS), low + pick] = True
        length[alive] += 1
        choices = chosen[alive]
        visited += len(choices)
        several += int(np.count_nonzero((choices > 1).sum(axis=1) > 1))
        choosing += int(np.count_nonzero(choices > 1))
        options += int(choices[choices > 1].sum())
        fixed = decided(network.goals, reachable(ternary, latched, steady, states, rounds))
        decided_at[fixed & (decided_at < 0)] = length.max() - 1
        if not alive.any() or time.process_time() > end:
            break
        states = np.where(alive[:, None], ternary.follow(may, moves), states)
    late = np.where(decided_at >= 0, np.maximum(0, length - decided_at), 0)
    return _Observed(
        both=several / max(1, visited),
        total=totals.pop() if len(totals) == 1 else None,
        options=options / max(1, choosing),
        length=float(length[~alive].mean()) if not alive.all() else 0.0,
        decided=float(late.sum() / max(1, length.sum())),
    )


def _totals(network: Network, holds: NDArray[np.bool_]) -> set[int]:
    """The sums of all roles' highest goals that hold, shape (n, goals); -1 if a role has no goal."""
    worth = np.where(holds, network.goals[:, 1], -1)
    roles = range(len(network.roles))
    best = np.stack([worth[:, network.goals[:, 0] == role].max(axis=1, initial=-1) for role in roles], axis=1)
    return set(np.where((best >= 0).all(axis=1), best.sum(axis=1), -1).tolist())
