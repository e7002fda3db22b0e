"""Ground rules before they become a circuit: constants are propagated, unread atoms go, and what decides
legal, terminal and goal is separated from the moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.graph import Bools, Ints, spread
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.simplify import RuleTable


@dataclass
class AtomRules(RuleTable):
    """A game's rules and the outputs that they define. Atoms below ``bases`` are base propositions, those
    from there to below ``inputs`` moves. ``outputs`` has the atom of each output (next, legal, goals,
    terminal), -1 for one that never holds; all but the first ``bases``, those of next, are evaluated before
    any move is made."""

    inputs: int
    bases: int
    atom_count: int
    outputs: NDArray[np.int32]

    def marked(self, atoms: Ints | slice) -> Bools:
        """A mask of some atoms; negative ones are left out."""
        mask = np.zeros(self.atom_count, bool)
        mask[atoms if isinstance(atoms, slice) else atoms[atoms >= 0]] = True
        return mask


def prune(ground: GroundRules) -> tuple[AtomRules, NDArray[np.int8]]:
    """What the outputs depend on of a game's rules, with legal, terminal and goal independent of the moves;
    and each atom's value: 1 holds, 0 never holds, -1 depends."""
    goals = [atom for _, _, atom in ground.goal_atoms]
    bases = len(ground.bases)
    rules = AtomRules(
        heads=ground.heads,
        rule_of=np.repeat(np.arange(len(ground.heads), dtype=np.int32), np.diff(ground.body_start)),
        literals=ground.bodies,
        inputs=bases + ground.move_count,
        bases=bases,
        atom_count=ground.atom_count,
        outputs=np.array([*ground.next_atoms, *ground.legal_atoms, *goals, ground.terminal_atom], np.int32),
    )
    separate_moves(rules)
    remove_unread(rules)
    values = propagate_constants(rules)
    remove_unread(rules)
    return rules, values


def separate_moves(rules: AtomRules) -> None:
    """Make legal, terminal and goal independent of the moves.

    In sound games they are. Where one of them reads ``does``, it is evaluated with no move made: its cone is
    copied, without the rules that need a move and without the literals that deny one.
    """
    head, read = rules.heads[rules.rule_of], rules.literals >> 1
    moved = rules.marked(slice(rules.bases, rules.inputs))
    spread(moved, read, head)
    copied = moved & rules.marked(rules.outputs[rules.bases :])
    if not copied.any():
        return
    inside = moved[read] & moved[head]
    spread(copied, head[inside], read[inside])
    copied[: rules.inputs] = False
    copy = np.arange(rules.atom_count, dtype=np.int32)
    copy[copied] = rules.atom_count + np.arange(np.count_nonzero(copied))
    is_move = (read >= rules.bases) & (read < rules.inputs)
    possible = copied[rules.heads]
    possible[rules.rule_of[is_move & (rules.literals & 1 == 0)]] = False
    clone = RuleTable(rules.heads, rules.rule_of, rules.literals)
    clone.keep(possible, ~is_move)
    early = rules.outputs[rules.bases :]
    # Only a move that is itself an output would be negative here; the grounder makes none.
    early[early >= 0] = copy[early[early >= 0]]
    rules.atom_count += int(np.count_nonzero(copied))
    rules.rule_of = np.concatenate([rules.rule_of, len(rules.heads) + clone.rule_of])
    rules.heads = np.concatenate([rules.heads, copy[clone.heads]])
    rules.literals = np.concatenate([rules.literals, 2 * copy[clone.literals >> 1] + (clone.literals & 1)])


def propagate_constants(rules: AtomRules) -> NDArray[np.int8]:
    """Remove atoms that always hold and atoms that have no rule left; returns each atom's value: 1 holds,
    0 never holds, -1 depends."""
    value = np.full(rules.atom_count, -1, np.int8)
    undecided = ~rules.marked(slice(0, rules.inputs))
    while True:
        value[undecided & ~rules.marked(rules.heads)] = 0
        value[rules.heads[rules.lengths == 0]] = 1
        undecided &= value < 0
        fixed = value[rules.literals >> 1]
        holds = fixed == 1 - (rules.literals & 1)
        alive = value[rules.heads] < 0
        alive[rules.rule_of[(fixed >= 0) & ~holds]] = False
        if alive.all() and not holds.any():
            return value
        rules.keep(alive, ~holds)


def remove_unread(rules: AtomRules) -> None:
    """Remove the rules of atoms that no output depends on."""
    wanted = rules.marked(rules.outputs)
    spread(wanted, rules.heads[rules.rule_of], rules.literals >> 1)
    rules.keep(wanted[rules.heads])
