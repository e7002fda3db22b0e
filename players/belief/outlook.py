"""What may come of each of a role's moves: the beliefs that it would hold then, and what it would be worth to
know more.

The others' moves and chance are all alike. Beliefs at the edge of the search are worth what the best move
would bring that must be the same in all of its worlds, if the role knew everything from then on (QMDP:
Littman, Cassandra and Kaelbling, ICML 1995).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.belief.worlds import WorldMachine, Worlds, all_joints

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Outlook:
    """The beliefs that a role may hold after its move, of all its moves: *branches*.

    Attributes:
        moves: int64: the role's moves, one for each branch, ascending.
        worlds: every world that may be reached, once.
        terminal: bool: which of these end the match; ``goals`` what they are worth then.
        first: int64, shape (branches + 1,): where each branch begins in the next two.
        places: int64: places in ``worlds``.
        weights: float64: the probabilities of these; those of a move add up to 1.
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
        """Per move how many bits the role is expected to learn, the end of the match included."""
        told: dict[int, float] = {}
        for number, move in enumerate(self.moves.tolist()):
            mass = float(self.branch(number)[1].sum())
            told[move] = told.get(move, 0.0) - mass * float(np.log2(max(mass, 1e-300)))
        return told


def outlook(machine: WorldMachine, worlds: Worlds, weights: Floats) -> Outlook:
    """What may come of each move of the machine's role in a belief whose worlds all go on."""
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
    # The role sees whether the match goes on.
    codes = 2 * machine.codes(seen) + terminal[places]
    order = np.lexsort((places, codes, moves))
    keys = np.stack([moves[order], codes[order], places[order]])
    new = np.ones(len(order), np.bool_)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    kept = np.flatnonzero(new)
    sums = np.add.reduceat(shares[order], kept)
    heads = np.ones(len(kept), np.bool_)
    heads[1:] = (keys[:2, kept[1:]] != keys[:2, kept[:-1]]).any(axis=0)
    first = np.flatnonzero(heads)
    return Outlook(
        moves=keys[0, kept[first]],
        worlds=once,
        terminal=terminal,
        goals=goals,
        first=np.append(first, len(kept)),
        places=keys[2, kept],
        weights=sums,
    )


def informed_values(machine: WorldMachine, worlds: Worlds, depth: int, most: int) -> Floats:
    """What each world is worth to a role that knows it, looking so many moves ahead, as long as ``most``
    joint moves are enough; then its goal as it stands."""
    values = machine.goals(worlds)
    alive = np.flatnonzero(~machine.terminal(worlds))
    if depth and len(alive):
        table = informed_moves(machine, worlds[alive], depth, most)
        if table is not None:
            values[alive] = table.max(axis=1)
    return values


def informed_moves(machine: WorldMachine, worlds: Worlds, depth: int, most: int) -> Floats | None:
    """The same of each move, shape (worlds, moves), -1e9 where it is not legal; None where ``most`` are not
    enough."""
    options = machine.options(worlds)
    if options.counts.prod(axis=1).sum() > most:
        return None
    of, joints = all_joints(options, np.arange(len(worlds)))
    after, _ = machine.step(worlds[of], joints)
    once, places = machine.unique(after)
    reached = informed_values(machine, once, depth - 1, most)[places]
    moves = joints[:, machine.role].astype(np.int64)
    width = int(moves.max(initial=0)) + 1
    counts = np.bincount(of * width + moves, minlength=len(worlds) * width)
    sums = np.bincount(of * width + moves, reached, len(worlds) * width)
    table = np.where(counts > 0, sums / np.maximum(counts, 1), -1e9)
    return table.reshape(len(worlds), width)
