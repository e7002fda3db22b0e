"""Expectimax over beliefs: the move with the best mean value, including the value of information.

It is exact if the search reaches the end of the match in time, as in games of one role against chance. The
other roles and chance are assumed to move at random. The search looks deeper and deeper, until the time is
up. A belief at the edge of the search gets the value of the best single move for all of its worlds, if the
role knew everything from then on (QMDP: Littman, Cassandra and Kaelbling, ICML 1995).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.machine import State
from gdl.words import counted
from players.belief.belief import Belief
from players.belief.worlds import WorldMachine, Worlds, all_joints
from players.options import Option, at_least, between
from players.player import Candidate, Choice, Player
from propnet.capabilities import lane_machine

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Outlook:
    """The beliefs that may follow each move of a role: *branches*.

    Attributes:
        moves: int64: the role's moves, one for each branch, ascending.
        worlds: every world that may be reached, once.
        terminal: bool: whether each world ends the match; ``goals`` holds its value then.
        first: int64, shape (branches + 1,): where each branch begins in the next two.
        places: int64: places in ``worlds``.
        weights: float64: the probabilities of these places; those of a move add up to 1.
    """

    moves: Numbers
    worlds: Worlds
    terminal: NDArray[np.bool_]
    goals: Floats
    first: Numbers
    places: Numbers
    weights: Floats

    def branch(self, number: int) -> tuple[Numbers, Floats]:
        """Places and weights of one branch."""
        part = slice(int(self.first[number]), int(self.first[number + 1]))
        return self.places[part], self.weights[part]

    def information(self) -> dict[int, float]:
        """Per move the expected number of bits that the role learns, including whether the match ends."""
        bits: dict[int, float] = {}
        for number, move in enumerate(self.moves.tolist()):
            mass = float(self.branch(number)[1].sum())
            bits[move] = bits.get(move, 0.0) - mass * float(np.log2(max(mass, 1e-300)))
        return bits


def outlook(machine: WorldMachine, worlds: Worlds, weights: Floats) -> _Outlook:
    """The outlook of a belief whose worlds all go on, for all moves of the machine's role."""
    role = machine.role
    options = machine.options(worlds)
    of, joints = all_joints(options, np.arange(len(worlds)))
    counts = options.counts.astype(np.float64)
    counts[:, role] = 1
    shares = (weights / np.maximum(counts.prod(axis=1), 1))[of]
    after, seen = machine.step(worlds[of], joints)
    once, places = machine.unique(after)
    terminal = machine.terminal(once)
    goals = np.where(terminal, machine.goals(once), 0.0)
    moves = joints[:, role].astype(np.int64)
    # The role perceives whether the match goes on.
    codes = 2 * machine.codes(seen) + terminal[places]
    order = np.lexsort((places, codes, moves))
    keys = np.stack([moves[order], codes[order], places[order]])
    new = np.ones(len(order), np.bool_)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    starts = np.flatnonzero(new)
    sums = np.add.reduceat(shares[order], starts)
    heads = np.ones(len(starts), np.bool_)
    heads[1:] = (keys[:2, starts[1:]] != keys[:2, starts[:-1]]).any(axis=0)
    first = np.flatnonzero(heads)
    return _Outlook(
        moves=keys[0, starts[first]],
        worlds=once,
        terminal=terminal,
        goals=goals,
        first=np.append(first, len(starts)),
        places=keys[2, starts],
        weights=sums,
    )


def _informed_values(machine: WorldMachine, worlds: Worlds, depth: int, most: int) -> Floats:
    """The value of each world to a role that knows the world and looks ``depth`` moves ahead. Where this
    needs more than ``most`` joint moves, it is the current goal."""
    values = machine.goals(worlds)
    alive = np.flatnonzero(~machine.terminal(worlds))
    if depth and len(alive):
        table = _informed_moves(machine, worlds[alive], depth, most)
        if table is not None:
            values[alive] = table.max(axis=1)
    return values


def _informed_moves(machine: WorldMachine, worlds: Worlds, depth: int, most: int) -> Floats | None:
    """The values of :func:`_informed_values` for each move, shape (worlds, moves), -1e9 for illegal moves;
    None if this needs more than ``most`` joint moves."""
    options = machine.options(worlds)
    if options.counts.prod(axis=1).sum() > most:
        return None
    of, joints = all_joints(options, np.arange(len(worlds)))
    after, _ = machine.step(worlds[of], joints)
    once, places = machine.unique(after)
    reached = _informed_values(machine, once, depth - 1, most)[places]
    moves = joints[:, machine.role].astype(np.int64)
    width = int(moves.max(initial=0)) + 1
    counts = np.bincount(of * width + moves, minlength=len(worlds) * width)
    sums = np.bincount(of * width + moves, reached, len(worlds) * width)
    table = np.where(counts > 0, sums / np.maximum(counts, 1), -1e9)
    return table.reshape(len(worlds), width)


_LANE_JOINTS, _JOINTS = 400_000, 4_000
"""The most joint moves that are played for one belief at a time: with lanes and without."""
_AHEAD = 2
"""Number of moves to look ahead for the values of known worlds."""
_KEPT = 50_000
"""Number of beliefs whose values are cached."""
_CLOSE = 1e-6
"""Values that differ by less count as equal; then the expected information decides."""


class _OutOfTimeError(Exception):
    """The time is up."""


class ExpectimaxPlayer(Player):
    """Looks ahead over its possible future beliefs, to ``depth`` of its moves or to the deadline."""

    name = "expectimax"
    OPTIONS = (Option("depth", at_least(1), 30, "moves that it looks ahead at most", public=between(1, 100)),)

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        super().__init__(seed=seed, **options)
        self._depth: int = self.options["depth"]

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        """Decide in a known state, as a belief that holds only this state."""
        return self._search(Belief(self.machine, self.role).certain(state), options, deadline)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        return self._search(belief, belief.legal_moves(), deadline)

    def _search(self, belief: Belief, options: list[int], deadline: float) -> Choice:
        search = _BeliefSearch(belief, deadline)
        best: dict[int, tuple[float, float]] = {}
        depth, exact = 0, False
        try:
            while depth < self._depth and not exact:
                best, exact = search.root(depth + 1)
                depth += 1
                if self.interrupted():
                    break
        except _OutOfTimeError:
            pass
        if not best:
            return Choice(options[0], (), "no time to look ahead")
        top = max(value for value, _ in best.values())
        alike = {move: bits for move, (value, bits) in best.items() if value >= top - _CLOSE}
        chosen = max(alike, key=lambda move: (alike[move], -self.in_order(options).index(move)))
        ordered = sorted(best, key=lambda move: (move != chosen, -best[move][0]))
        candidates = tuple(Candidate(move, 0, min(100.0, max(0.0, best[move][0]))) for move in ordered)
        how = "to the end" if exact and search.whole else f"{counted(depth, 'move')} ahead"
        return Choice(chosen, candidates, f"{counted(len(belief), 'possible state')}, looked {how}")


class _BeliefSearch:
    """Values of beliefs, by depth. Its methods raise OutOfTimeError after the deadline."""

    def __init__(self, belief: Belief, deadline: float) -> None:
        self._machine = belief.world_machine
        self._most = _JOINTS if lane_machine(belief.machine) is None else _LANE_JOINTS
        self._deadline = deadline
        self._numbers = np.random.default_rng(len(belief.history))
        self._values: dict[object, tuple[float, bool]] = {}
        self._outlooks: dict[object, _Outlook] = {}
        self._start = belief.few(self._most)
        self.whole = belief.exact and len(self._start[0]) == len(belief)

    def root(self, depth: int) -> tuple[dict[int, tuple[float, float]], bool]:
        """Per move its value and the expected bits of information; and whether they are exact."""
        seen, whole = self._outlook(*self._start)
        values, exact = self._moves(seen, depth)
        bits = seen.information()
        return {move: (value, bits[move]) for move, value in values.items()}, exact and whole

    def _value(self, worlds: Worlds, weights: Floats, depth: int) -> tuple[float, bool]:
        """The value of a belief, and whether it is exact."""
        key = self._key(worlds, weights)
        cached = self._values.get((key, depth)) or self._values.get((key, -1))
        if cached is None:
            seen, whole = self._outlook(worlds, weights)
            values, exact = self._moves(seen, depth)
            cached = max(values.values(), default=0.0), exact and whole  # no move: nothing is won
            if len(self._values) < _KEPT:
                self._values[key, -1 if cached[1] else depth] = cached
        return cached

    def _key(self, worlds: Worlds, weights: Floats) -> object:
        once = worlds.tobytes() if worlds.dtype != object else tuple(worlds)
        return once, np.round(weights, 9).tobytes()

    def _outlook(self, worlds: Worlds, weights: Floats) -> tuple[_Outlook, bool]:
        """The outlook of a belief, or of as many of its worlds as time allows; and whether it covers all
        worlds."""
        key = self._key(worlds, weights)
        cached = self._outlooks.get(key)
        if cached is not None:
            return cached, True
        counts = self._machine.options(worlds).counts.prod(axis=1)
        whole = bool(counts.sum() <= self._most)
        if not whole:
            few = max(1, int(self._most / counts.mean()))
            chosen = self._numbers.choice(len(worlds), min(few, len(worlds)), replace=False, p=weights)
            worlds, weights = worlds[np.sort(chosen)], np.full(len(chosen), 1 / len(chosen))
        if time.monotonic() > self._deadline:
            raise _OutOfTimeError
        seen = outlook(self._machine, worlds, weights)
        if whole and len(self._outlooks) < _KEPT and len(seen.places) < 20_000:
            self._outlooks[key] = seen
        return seen, whole

    def _moves(self, seen: _Outlook, depth: int) -> tuple[dict[int, float], bool]:
        """The value of each move, and whether all are exact."""
        values: dict[int, float] = dict.fromkeys(seen.moves.tolist(), 0.0)
        exact = True
        table = None
        if depth <= 1:
            table, exact = self._edge(seen)
        for number, move in enumerate(seen.moves.tolist()):
            places, weights = seen.branch(number)
            mass = float(weights.sum())
            if seen.terminal[places[0]]:
                values[move] += float(weights @ seen.goals[places])
            elif table is not None:
                values[move] += float((weights @ table[places]).max())
            else:
                if time.monotonic() > self._deadline:
                    raise _OutOfTimeError
                value, sure = self._value(seen.worlds[places], weights / mass, depth - 1)
                values[move] += mass * value
                exact = exact and sure
        return values, exact

    def _edge(self, seen: _Outlook) -> tuple[Floats | None, bool]:
        """Per reached world and move the value of the move if the role knew the world; and whether the match
        is over in all of these worlds."""
        alive = np.flatnonzero(~seen.terminal)
        if not len(alive):
            return np.zeros((len(seen.worlds), 1)), True
        if time.monotonic() > self._deadline:
            raise _OutOfTimeError
        part = None
        for ahead in range(_AHEAD, 0, -1):
            part = _informed_moves(self._machine, seen.worlds[alive], ahead, self._most)
            if part is not None:
                break
        if part is None:
            part = self._machine.goals(seen.worlds[alive])[:, None]
        table = np.zeros((len(seen.worlds), part.shape[1]))
        table[alive] = part
        return table, False
