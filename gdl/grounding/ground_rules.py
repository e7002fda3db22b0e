"""Ground rules: the result of the grounder in flat arrays, and the meaning of its statistics."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term


@dataclass(frozen=True)
class GroundRules:
    """Variable-free rules over numbered atoms.

    An *atom* is an integer. Atoms ``0 .. len(bases)-1`` are the base propositions in sorted order. The moves
    (``does`` atoms) follow, role by role, each role's in sorted order; then all other atoms that some rule
    defines, including auxiliary atoms of the rule decomposition. A *literal* is ``2 * atom + negated``.

    Atoms that are never derivable do not occur: a rule that needs one is dropped, and so is a negated literal
    on one. Atoms that always hold (static facts) do not occur either; a rule with an empty body means that
    its head always holds.

    Attributes:
        roles: the roles in the order of the rules.
        bases: base propositions (without ``true``), sorted; reachable ones only.
        moves: per role its possible moves (without ``does``), sorted.
        atom_count: number of atoms.
        heads: int32, shape (rules,): the head atom of each rule.
        body_start: int64, shape (rules + 1,): rule i's body is ``bodies[body_start[i]:body_start[i + 1]]``.
        bodies: int32, shape (total body length,): literals.
        next_atoms: int32, shape (len(bases),): the atom for "base proposition b holds in the next state";
            -1 if nothing can make it true.
        legal_atoms: int32, shape (moves of all roles,): in the order of the does atoms.
        goal_atoms: one (role index, value, atom) for each possible goal.
        terminal_atom: the atom of ``terminal``; -1 if it can never hold.
        initial: bool, shape (len(bases),): the propositions that are true at first.
        names: readable names of some of the other atoms (may be empty).
        stats: counts and CPU seconds of the grounder's passes, for ``ggp ground --stats``.
        percepts: per role its possible percepts, sorted; empty for rules without ``sees``.
        percept_atoms: int32, shape (percepts of all roles,): the atom of each percept, in that order. These
            atoms may depend on the moves.
    """

    roles: tuple[Term, ...]
    bases: tuple[Term, ...]
    moves: tuple[tuple[Term, ...], ...]
    atom_count: int
    heads: NDArray[np.int32]
    body_start: NDArray[np.int64]
    bodies: NDArray[np.int32]
    next_atoms: NDArray[np.int32]
    legal_atoms: NDArray[np.int32]
    goal_atoms: tuple[tuple[int, int, int], ...]
    terminal_atom: int
    initial: NDArray[np.bool_]
    names: dict[int, str] = field(default_factory=dict)
    stats: dict[str, float] = field(default_factory=dict)
    percepts: tuple[tuple[Term, ...], ...] = ()
    percept_atoms: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    @property
    def move_count(self) -> int:
        """Number of moves of all roles together."""
        return sum(map(len, self.moves))

    def does_atom(self, role: int, move: int) -> int:
        """The atom for "a role makes its move with this index"."""
        return len(self.bases) + sum(map(len, self.moves[:role])) + move


MEANINGS = {
    "roles": "players of the game",
    "base_propositions": "facts that may be true in a state",
    "moves": "moves of all roles together",
    "compile_s": "CPU s: compile the rules to strata without functions",
    "reach_s": "CPU s: find the facts that may ever hold, whatever is played",
    "instantiate_s": "CPU s: replace variables by constants",
    "assemble_s": "CPU s: number the atoms and leave out known facts",
    "ground_s": "CPU s: all of these steps",
    "reachable_atoms": "facts of all relations that may ever hold",
    "instances": "rules after variables were replaced",
    "auxiliary_atoms": "facts from splitting large rules (`part`)",
    "rules": "ground rules that remain at the end",
    "literals": "conditions in the bodies of these rules",
    "atoms": "facts, moves included, that these rules name",
}
"""A readable description of each of the statistics."""


def counts_of(grounded: GroundRules) -> dict[str, float]:
    """The statistics of ground rules: counts, and CPU seconds of the grounder's passes."""
    return {
        "roles": len(grounded.roles),
        "base_propositions": len(grounded.bases),
        "moves": grounded.move_count,
        **grounded.stats,
    }
