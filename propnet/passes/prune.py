"""Ground rules before they become a circuit: constants are propagated, unread atoms go, and what decides
legal, terminal and goal is separated from the moves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.ground_rules import GroundRules
from propnet.passes.graph import spread

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class AtomRules:
    """Rules and the outputs that they define.

    Attributes:
        inputs: atoms below this are base propositions and moves.
        bases: atoms below this are base propositions.
        atom_count: number of atoms.
        heads: int32, shape (rules,).
        start: int64, shape (rules + 1,): rule i's body is ``bodies[start[i]:start[i + 1]]``.
        bodies: int32: literals.
        outputs: int32: the atom of each output (next, legal, goals, terminal); -1 for one
            that never holds. All but the first ``bases``, those of next, are evaluated before
            any move is made.
    """

    inputs: int
    bases: int
    atom_count: int
    heads: Ints
    start: NDArray[np.int64]
    bodies: Ints
    outputs: Ints


def prune(ground: GroundRules) -> tuple[AtomRules, NDArray[np.int8]]:
    """What the outputs depend on of a game's rules.

    Returns:
        rules whose legal, terminal and goal are independent of the moves, and each atom's
        value: 1 holds, 0 never holds, -1 depends.
    """
    rules, values = constants(reachable(without_moves(atom_rules(ground))))
    return reachable(rules), values


def atom_rules(ground: GroundRules) -> AtomRules:
    """The rules of a game with its outputs in one array."""
    goals = [atom for _, _, atom in ground.goal_atoms]
    outputs = np.concatenate(
        [ground.next_atoms, ground.legal_atoms, np.array([*goals, ground.terminal_atom], np.int32)]
    )
    bases = len(ground.bases)
    return AtomRules(
        inputs=bases + ground.move_count,
        bases=bases,
        atom_count=ground.atom_count,
        heads=ground.heads,
        start=ground.body_start,
        bodies=ground.bodies,
        outputs=outputs.astype(np.int32),
    )


def owners_of(rules: AtomRules) -> Ints:
    """The rule that each body literal belongs to."""
    return np.repeat(np.arange(len(rules.heads), dtype=np.int32), np.diff(rules.start))


def _select(rules: AtomRules, keep_rule: NDArray[np.bool_], keep_literal: NDArray[np.bool_]) -> AtomRules:
    """The rules without some of them and without some literals."""
    owners = owners_of(rules)
    keep_literal = keep_literal & keep_rule[owners]
    counts = np.bincount(owners[keep_literal], minlength=len(rules.heads))[keep_rule]
    start = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    return replace(rules, heads=rules.heads[keep_rule], start=start, bodies=rules.bodies[keep_literal])


def without_moves(rules: AtomRules) -> AtomRules:
    """Make legal, terminal and goal independent of the moves.

    In sound games they are. Where one of them reads ``does``, it is evaluated with no move
    made: its cone is copied, without the rules that need a move and without the literals
    that deny one.
    """
    atoms = rules.atom_count
    owners = owners_of(rules)
    read = rules.bodies >> 1
    moved = np.zeros(atoms, bool)
    moved[rules.bases : rules.inputs] = True
    spread(moved, read, rules.heads[owners])
    roots = rules.outputs[rules.bases :]
    wanted = np.zeros(atoms, bool)
    wanted[roots[roots >= 0]] = True
    wanted &= moved
    if not wanted.any():
        return rules
    inside = moved[read] & moved[rules.heads[owners]]
    spread(wanted, rules.heads[owners][inside], read[inside])
    wanted[: rules.inputs] = False
    copy = np.arange(atoms, dtype=np.int32)
    copy[wanted] = atoms + np.arange(np.count_nonzero(wanted), dtype=np.int32)
    is_move = (read >= rules.bases) & (read < rules.inputs)
    negated = (rules.bodies & 1).astype(bool)
    copied = wanted[rules.heads]
    impossible = np.zeros(len(rules.heads), bool)
    impossible[owners[is_move & ~negated]] = True
    clone = _select(rules, copied & ~impossible, ~is_move)
    outputs = rules.outputs.copy()
    tail = outputs[rules.bases :]
    # Only a move that is itself an output would be negative here; the grounder makes none.
    tail[tail >= 0] = np.where(wanted[tail[tail >= 0]], copy[tail[tail >= 0]], tail[tail >= 0])
    return replace(
        rules,
        atom_count=atoms + int(np.count_nonzero(wanted)),
        heads=np.concatenate([rules.heads, copy[clone.heads]]),
        start=np.concatenate([rules.start, rules.start[-1] + clone.start[1:]]),
        bodies=np.concatenate([rules.bodies, 2 * copy[clone.bodies >> 1] + (clone.bodies & 1)]),
        outputs=outputs,
    )


def constants(rules: AtomRules) -> tuple[AtomRules, NDArray[np.int8]]:
    """Propagate atoms that always hold and atoms that have no rule left.

    Returns:
        the rules without them, and each atom's value: 1 holds, 0 never holds, -1 depends.
    """
    value = np.full(rules.atom_count, -1, np.int8)
    open_ = np.ones(rules.atom_count, bool)
    open_[: rules.inputs] = False
    while True:
        ruled = np.bincount(rules.heads, minlength=rules.atom_count) > 0
        value[open_ & ~ruled] = 0
        value[rules.heads[np.diff(rules.start) == 0]] = 1
        open_ &= value < 0
        fixed = value[rules.bodies >> 1]
        holds = fixed == 1 - (rules.bodies & 1)
        keep = value[rules.heads] < 0
        keep[owners_of(rules)[(fixed >= 0) & ~holds]] = False
        if keep.all() and not holds.any():
            return rules, value
        rules = _select(rules, keep, ~holds)


def reachable(rules: AtomRules) -> AtomRules:
    """Without the rules of atoms that no output depends on."""
    owners = owners_of(rules)
    wanted = np.zeros(rules.atom_count, bool)
    wanted[rules.outputs[rules.outputs >= 0]] = True
    spread(wanted, rules.heads[owners], rules.bodies >> 1)
    return _select(rules, wanted[rules.heads], np.ones(len(rules.bodies), bool))
