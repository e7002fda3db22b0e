"""From ground rules to a circuit: each atom is the factored OR of its rules' ANDs. Cycles are cut open at few
atoms through which every cycle passes (a greedy feedback vertex set).

Before that, constants are propagated in the ground rules, unread atoms are dropped, atoms that are read alike
become one, and the rules of legal, terminal and goal are separated from the moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from gdl.compile.stratify import components
from gdl.errors import RulesError
from gdl.grounding.graph import Bools, Ints, order, spread
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.simplify import RuleTable, join
from propnet.passes.circuit import FALSE, TRUE, Circuit, CircuitBuilder, Shape
from propnet.passes.simplify import Product, sum_of_products


@dataclass
class AtomRules(RuleTable):
    """A game's rules and the outputs that they define. Atoms below ``bases`` are base propositions, the
    following ones below ``inputs`` are moves. ``outputs`` holds the atom of each output (next, legal, goals,
    terminal), -1 for one that never holds. All but the first ``bases``, those of next, are evaluated before
    any move is made."""

    inputs: int
    bases: int
    atom_count: int
    outputs: NDArray[np.int32]

    def marked(self, atoms: Ints | slice) -> Bools:
        """A mask of some atoms; negative ones are ignored."""
        mask = np.zeros(self.atom_count, bool)
        mask[atoms if isinstance(atoms, slice) else atoms[atoms >= 0]] = True
        return mask


def prune(ground: GroundRules) -> tuple[AtomRules, NDArray[np.int8]]:
    """The rules on which the outputs depend, with legal, terminal and goal independent of the moves; and each
    atom's value: 1 holds, 0 never holds, -1 depends."""
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
    _separate_moves(rules)
    _remove_unread(rules)
    values = _propagate_constants(rules)
    _remove_unread(rules)
    join(rules, rules.marked(rules.outputs) | rules.marked(slice(0, rules.inputs)))
    return rules, values


def _separate_moves(rules: AtomRules) -> None:
    """Make legal, terminal and goal independent of the moves.

    In sound games they are. If one of them reads ``does``, it is evaluated with no move made: its cone is
    copied, without the rules that need a move and without the literals that negate one.
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
    # Only a move that is itself an output would be negative here; the grounder creates none.
    early[early >= 0] = copy[early[early >= 0]]
    rules.atom_count += int(np.count_nonzero(copied))
    rules.rule_of = np.concatenate([rules.rule_of, len(rules.heads) + clone.rule_of])
    rules.heads = np.concatenate([rules.heads, copy[clone.heads]])
    rules.literals = np.concatenate([rules.literals, 2 * copy[clone.literals >> 1] + (clone.literals & 1)])


def _propagate_constants(rules: AtomRules) -> NDArray[np.int8]:
    """Remove atoms that always hold and atoms without rules. Returns each atom's value: 1 holds, 0 never
    holds, -1 depends."""
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


def _remove_unread(rules: AtomRules) -> None:
    """Remove the rules of atoms on which no output depends."""
    needed = rules.marked(rules.outputs)
    spread(needed, rules.heads[rules.rule_of], rules.literals >> 1)
    rules.keep(needed[rules.heads])


def cut_points(members: list[int], reads: list[list[int]]) -> list[int]:
    """Vertices without which a component of a graph (vertex -> those that it reads) has no cycles, ascending.

    Vertices without predecessors or successors are peeled. If none is left, the vertex with the largest
    product of degrees is cut.
    """
    within = set(members)
    forward = {v: within.intersection(reads[v]) for v in members}
    backward: dict[int, set[int]] = defaultdict(set)
    for vertex, below in forward.items():
        for read in below:
            backward[read].add(vertex)
    cuts = []

    def remove(vertex: int) -> set[int]:
        below, above = forward.pop(vertex) - {vertex}, backward.pop(vertex, set()) - {vertex}
        for read in below:
            backward[read].discard(vertex)
        for reader in above:
            forward[reader].discard(vertex)
        return below | above

    def peel(stack: list[int]) -> None:
        while stack:
            vertex = stack.pop()
            if vertex in forward and not (forward[vertex] and backward.get(vertex)):
                stack.extend(remove(vertex))

    peel(list(forward))
    heap = [(-len(below) * len(backward[vertex]), vertex) for vertex, below in forward.items()]
    heap = [(-(1 << 60), v) if v in forward[v] else (weight, v) for weight, v in heap]
    heapify(heap)
    while heap:
        weight, vertex = heappop(heap)
        if vertex not in forward:
            continue
        if vertex not in forward[vertex]:
            current = -len(forward[vertex]) * len(backward[vertex])
            if current != weight:
                heappush(heap, (current, vertex))
                continue
        cuts.append(vertex)
        peel(list(remove(vertex)))
    return sorted(cuts)


ELSEWHERE = -1
"""Stands for the literal of an atom that is merged into its reader, or not defined yet."""

_INLINED_USES = 4
"""A two-literal product is copied into its readers if at most this number of rules read it: it factors
better there, and extraction shares pairs that remain common."""


def construct(rules: AtomRules, values: NDArray[np.int8], moves: tuple[int, ...], goals: int) -> Circuit:
    """Build the circuit of the rules and values from :func:`prune`, for these numbers of moves of each role
    and of goals. Raises RulesError if an atom depends on its own negation."""
    sequence, cuts = evaluation_order(rules, cut_points)
    shape = Shape(rules.bases, moves, goals, len(cuts))
    builder = CircuitBuilder(shape.first_gate)
    literals = np.full(2 * rules.atom_count, ELSEWHERE, np.int64)
    literals[: 2 * rules.inputs] = 2 + np.arange(2 * rules.inputs)
    for start, count in zip(shape.role_starts, moves, strict=False):
        # A role with one move always makes it.
        if count == 1:
            literals[2 * start - 2 : 2 * start] = TRUE, FALSE
    literals[0::2][values >= 0] = values[values >= 0] ^ 1
    literals[1::2][values >= 0] = values[values >= 0]
    for number, atom in enumerate(cuts):
        literals[2 * atom : 2 * atom + 2] = 2 * (shape.first_cut + number) + np.arange(2)
    atoms = _Atoms(rules, literals.tolist())
    read_once, read_alone = _single_uses(rules)
    uses = np.bincount(rules.literals >> 1, minlength=rules.atom_count).tolist()
    definitions: dict[int, int] = {}
    cut_set = set(cuts)
    for atom in sequence:
        products = atoms.products(atom)
        if atom in cut_set:
            # The least fixpoint of c = f | c & g is that of c = f.
            own = atoms.literals[2 * atom]
            definitions[atom] = sum_of_products(builder, [p for p in products if own not in p])
            continue
        if atom in read_once and (len(products) == 1 or atom in read_alone):
            atoms.merged[atom] = products
            continue
        literal = sum_of_products(builder, products)
        atoms.literals[2 * atom + 1] = literal ^ 1
        if len(products) == 1 and len(products[0]) == 2 and uses[atom] <= _INLINED_USES:
            atoms.copied[atom] = products[0]
        atoms.literals[2 * atom] = literal
    outputs = [atoms.literals[2 * atom] if atom >= 0 else FALSE for atom in rules.outputs.tolist()]
    outputs.extend(definitions[atom] for atom in cuts)
    return Circuit(shape, builder.gates, outputs)


class RuleBodies:
    """The bodies of the rules, in plain lists."""

    def __init__(self, rules: AtomRules) -> None:
        by_head = np.argsort(rules.heads, kind="stable")
        atoms = np.arange(rules.atom_count + 1)
        self._first: list[int] = np.searchsorted(rules.heads[by_head], atoms).tolist()
        ends = np.cumsum(rules.lengths)
        self._starts: list[int] = (ends - rules.lengths)[by_head].tolist()
        self._ends: list[int] = ends[by_head].tolist()
        self._literals: list[int] = rules.literals.tolist()

    def of(self, atom: int) -> list[list[int]]:
        """The literals of each rule of an atom."""
        own = slice(self._first[atom], self._first[atom + 1])
        return [self._literals[a:b] for a, b in zip(self._starts[own], self._ends[own], strict=True)]


class _Atoms:
    """The rules, and the literals of their atoms."""

    def __init__(self, rules: AtomRules, literals: list[int]) -> None:
        # For each literal of the rules the literal of the circuit, or ELSEWHERE.
        self.literals = literals
        # Atoms read once that have a single product, or are the whole body of the rule that reads them.
        self.merged: dict[int, list[Product]] = {}
        # Products that are copied into all rules that read them un-negated.
        self.copied: dict[int, Product] = {}
        self._bodies = RuleBodies(rules)

    def products(self, atom: int) -> list[Product]:
        """The bodies of an atom's rules in literals of the circuit, without false ones."""
        literals, copied = self.literals, self.copied
        products: list[Product] = []
        for body in self._bodies.of(atom):
            if len(body) == 1 and literals[body[0]] == ELSEWHERE:
                shorter = self.merged.pop(body[0] >> 1)
                if len(shorter) > len(products):
                    products, shorter = shorter, products
                products.extend(shorter)
                continue
            inputs: set[int] = set()
            for x in body:
                literal = literals[x]
                if literal == ELSEWHERE:
                    inputs.update(self.merged.pop(x >> 1)[0])
                elif x >> 1 in copied and not x & 1:
                    inputs.update(copied[x >> 1])
                else:
                    inputs.add(literal)
            inputs.discard(TRUE)
            if FALSE not in inputs:
                products.append(tuple(sorted(inputs)))
        return products


Cuts = Callable[[list[int], list[list[int]]], Iterable[int]]
"""The members of a strongly connected component (the first argument) at which its cycles are cut; the second
holds what each vertex reads."""


def evaluation_order(rules: AtomRules, cuts_of: Cuts) -> tuple[list[int], list[int]]:
    """The atoms that have rules, each after those it reads, and the atoms at which cycles are cut. Readers of
    a cut may precede it. Raises RulesError if an atom depends on its own negation."""
    read = rules.literals >> 1
    head = rules.heads[rules.rule_of]
    derived = read >= rules.inputs
    source, target = read[derived], head[derived]
    negated = (rules.literals[derived] & 1).astype(bool)
    cuts: list[int] = []
    sequence, behind = order(rules.atom_count, source, target)
    if behind.any():
        # Atoms on cycles or after them, numbered separately.
        atoms: list[int] = np.flatnonzero(behind).tolist()
        number = np.cumsum(behind) - 1
        inside = behind[source] & behind[target]
        lower, upper = number[source[inside]], number[target[inside]]
        reads: list[list[int]] = [[] for _ in atoms]
        for below, above in zip(lower.tolist(), upper.tolist(), strict=True):
            reads[above].append(below)
        component = np.zeros(len(atoms), np.int64)
        for rank, members in enumerate(components(reads)):
            component[members] = rank
            cuts += [atoms[v] for v in cuts_of(members, reads)]
        if (negated[inside] & (component[lower] == component[upper])).any():
            raise RulesError("an atom depends on its own negation", remedy="negation must be stratified")
        waits = ~rules.marked(np.array(cuts, np.int64))[source]
        sequence, _ = order(rules.atom_count, source[waits], target[waits])
    return sequence[rules.marked(rules.heads)[sequence]].tolist(), sorted(cuts)


def _single_uses(rules: AtomRules) -> tuple[set[int], set[int]]:
    """Atoms that only one rule reads, un-negated; and those of them that are that rule's whole body."""
    read = rules.literals >> 1
    uses = np.bincount(read, minlength=rules.atom_count)
    uses[rules.outputs[rules.outputs >= 0]] += 2
    single = (uses[read] == 1) & (rules.literals & 1 == 0) & (read >= rules.inputs)
    alone = single & (rules.lengths == 1)[rules.rule_of]
    return set(read[single].tolist()), set(read[alone].tolist())
