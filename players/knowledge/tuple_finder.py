"""n-tuples of a game found from its rules: variables (:mod:`players.knowledge.variables`) that are looked at
together (W. Bledsoe and I. Browning, 1959; S. Lucas: Learning to play Othello with n-tuple systems, 2008).

There are three sources, in this order. First, variables that a ground rule asks for, directly or through
other rules, on the way to goals, the end and legal moves (the lines of connect four, the rays of Othello).
Second, rectangles of a board whose rows and columns the rules order. Third, a variable and those that rules
ask for together with it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.pipeline import ground
from gdl.rules import Signature
from gdl.terms import Term
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.derived_propositions import DerivedPropositions
from players.knowledge.features import DERIVED
from players.knowledge.n_tuples import NTuples
from players.knowledge.variables import Coordinates, MultiValued, variables_of
from players.move_lists import unpack_moves
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.recoding.samples import sample_states

MOST_TUPLES = 240
MOST_ENTRIES = 1 << 18
"""Most entries of all tables together."""
_TABLE = 1 << 10
"""Most entries of a tuple's table; twice as many if it includes whose turn it is."""
_SAMPLE = 4096
_ROUNDS = 24
"""Depth to which recursive rules are followed."""
_TURN_VALUES = 4
_SURE = 0.99
"""Share of states in which a variable must determine the role that chooses, to count as whose turn it is."""
_WINDOWS = (2, 3), (3, 2), (2, 2)

_Members = tuple[int, ...]
Shape = tuple[object, ...]


def find_tuples(
    machine: PropnetMachine,
    names: CanonicalNames,
    seed: int = 0,
    derived: DerivedPropositions | None = None,
) -> NTuples | None:
    """The tuples of a game; None if only single propositions were found. Variables get ``derived``
    propositions as further values if these fit, for example that a disc would land there."""
    network = machine.network
    sample = sample_states(machine, _SAMPLE, seed)
    holds = unpack(sample, len(network.bases))
    variables = variables_of(network.bases, holds, names)
    board = _Board(machine, variables)
    turn = _turn(machine, variables, sample, holds)
    chosen = _chosen(board, turn, _together(machine, variables))
    if not chosen:
        return None
    shapes: dict[Shape, int] = {}
    tuples, numbers = [], []
    for members in chosen:
        ordered, shape = board.shape(members)
        numbers.append(shapes.setdefault(shape, len(shapes)))
        tuples.append(ordered if turn is None else (*ordered, turn))
    on_board = [shape[0] == "board" for shape in shapes]
    listed = [[(names.key(network.bases[base]), code) for base, code in v.codes] for v in variables]
    radix = [v.radix for v in variables]
    found = NTuples.of(listed, radix, tuples, numbers, on_board)
    if derived is not None and _widen(variables, listed, radix, derived, holds, sample, names):
        wide = NTuples.of(listed, radix, tuples, numbers, on_board)
        if wide.fits:
            return wide
    return found


def _widen(
    variables: list[MultiValued],
    listed: list[list[tuple[str, int]]],
    radix: list[int],
    derived: DerivedPropositions,
    holds: NDArray[np.bool_],
    sample: NDArray[np.uint64],
    names: CanonicalNames,
) -> bool:
    """Give the variables of a kind a further value for each derived relation that has the same arguments as
    their keys, and that never holds, in a sample of states, if one of them has a value of its own. Changes
    ``listed`` and ``radix``, the names and codes and the numbers of values. Returns whether there was such a
    relation."""
    derived_values = unpack(derived.long(sample), len(derived.propositions))[:, derived.first :]
    kinds: dict[str, dict[tuple[Term, ...], int]] = defaultdict(dict)
    for number, variable in enumerate(variables):
        kinds[variable.kind][variable.key] = number
    relations: dict[Signature, list[int]] = defaultdict(list)
    for place, term in enumerate(derived.terms):
        if term.args:
            relations[term.signature].append(place)
    widened = False
    for places in relations.values():
        for of in kinds.values():
            fits = all(
                (key := derived.terms[place].args) in of
                and not (derived_values[:, place] & _has_value(variables[of[key]], holds)).any()
                for place in places
            )
            if not fits:
                continue
            code = radix[next(iter(of.values()))]
            for place in places:
                term = derived.terms[place]
                listed[of[term.args]].append((DERIVED + names.key(term), code))
            for number in of.values():
                radix[number] = code + 1
            widened = True
            break
    return widened


def _has_value(variable: MultiValued, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a variable has a value other than 0, bool, shape (states,)."""
    return np.asarray(holds[:, [base for base, _ in variable.codes]].any(axis=1), np.bool_)


class _Board:
    """The places of variables on the board."""

    def __init__(self, machine: PropnetMachine, variables: list[MultiValued]) -> None:
        self.variables = variables
        coordinates = Coordinates(machine.rules)
        keys: dict[str, list[tuple[Term, ...]]] = defaultdict(list)
        for variable in variables:
            keys[variable.kind].append(variable.key)
        orders = {
            kind: [coordinates.order(constants) for constants in zip(*some, strict=True)]
            for kind, some in keys.items()
            if len({len(key) for key in some}) == 1
        }
        self.place: list[tuple[int, ...] | None] = []
        for variable in variables:
            ranks = orders.get(variable.kind, [None])
            found = [rank[term] for rank, term in zip(ranks, variable.key, strict=False) if rank is not None]
            self.place.append(tuple(found) if found and len(found) == len(ranks) else None)
        self._at = {(v.kind, p): n for n, (v, p) in enumerate(zip(variables, self.place, strict=True)) if p}

    def shape(self, members: _Members) -> tuple[_Members, Shape]:
        """The members in order, and the shape that they share with tuples elsewhere on the board."""
        variables = [self.variables[member] for member in members]
        kinds = {(v.kind, v.radix) for v in variables}
        places = [self.place[member] for member in members]
        if len(kinds) == 1 and all(place is not None for place in places):
            order = sorted(range(len(members)), key=lambda i: places[i] or ())
            first = places[order[0]] or ()
            offsets = tuple(tuple(a - b for a, b in zip(places[i] or (), first, strict=True)) for i in order)
            return tuple(members[i] for i in order), ("board", variables[0].kind, offsets)
        if len(kinds) == 1:
            same = tuple(len(set(column)) == 1 for column in zip(*(v.key for v in variables), strict=False))
            return members, ("alike", variables[0].kind, len(members), same)
        return members, ("own", members)

    def windows(self) -> Iterator[_Members]:
        """Small rectangles of squares, row by row."""
        for size in _WINDOWS:
            for variable, place in zip(self.variables, self.place, strict=True):
                if place is None or len(place) != 2:
                    continue
                squares = product(range(size[0]), range(size[1]))
                found = [self._at.get((variable.kind, (place[0] + a, place[1] + b))) for a, b in squares]
                members = tuple(member for member in found if member is not None)
                if len(members) == len(found):
                    yield members


def _turn(
    machine: PropnetMachine,
    variables: list[MultiValued],
    sample: NDArray[np.uint64],
    holds: NDArray[np.bool_],
) -> int | None:
    """The variable that determines which role has a choice; None if none does."""
    counts, _ = unpack_moves(machine.evaluate(sample).legal, machine.role_moves)
    chooses = counts > 1
    one_chooses = chooses.sum(axis=1) == 1
    chooser = np.argmax(chooses, axis=1)[one_chooses]
    if len(set(chooser.tolist())) < 2:
        return None
    for number, variable in enumerate(variables):
        if variable.radix > _TURN_VALUES:
            continue
        value = np.zeros(len(holds), np.int64)
        for base, code in variable.codes:
            value[holds[:, base]] = code
        table = np.zeros((variable.radix, len(machine.roles)), np.int64)
        np.add.at(table, (value[one_chooses], chooser), 1)
        if table.max(axis=1).sum() >= _SURE * len(chooser):
            return number
    return None


def _together(machine: PropnetMachine, variables: list[MultiValued]) -> Counter[_Members]:
    """The sets of two or more variables that ground rules ask for, with the number of these rules."""
    try:
        rules = ground(machine.rules)
    except GdlError:
        return Counter()
    owner = {machine.network.bases[base]: n for n, v in enumerate(variables) for base, _ in v.codes}
    radix = [v.radix for v in variables]
    support = [0] * rules.atom_count
    for atom, base in enumerate(rules.bases):
        if base in owner:
            support[atom] = 1 << owner[base]
    bodies = _bodies(rules)
    asked = _asked(rules, bodies)
    for _ in range(_ROUNDS):
        changed = False
        for atom in asked:
            before = mask = support[atom]
            for body in bodies[atom]:
                for other in body:
                    mask |= support[other]
            if mask != before:
                support[atom], changed = mask, True
        if not changed:
            break
    found: Counter[_Members] = Counter()
    for atom in asked:
        for body in bodies[atom]:
            mask = 0
            for other in body:
                mask |= support[other]
            if 2 <= mask.bit_count() <= _TABLE.bit_length():
                members = tuple(n for n in range(mask.bit_length()) if mask >> n & 1)
                if prod(radix[n] for n in members) <= _TABLE:
                    found[members] += 1
    return found


def _bodies(rules: GroundRules) -> list[list[list[int]]]:
    """The atoms in the bodies of each atom's rules."""
    bodies: list[list[list[int]]] = [[] for _ in range(rules.atom_count)]
    atoms, starts = (rules.bodies >> 1).tolist(), rules.body_start.tolist()
    for number, head in enumerate(rules.heads.tolist()):
        bodies[head].append(atoms[starts[number] : starts[number + 1]])
    return bodies


def _asked(rules: GroundRules, bodies: list[list[list[int]]]) -> list[int]:
    """The atoms with rules that goals, the end and legal moves rest on, deepest first except for
    recursion."""
    waiting = [*rules.legal_atoms.tolist(), *(atom for _, _, atom in rules.goal_atoms), rules.terminal_atom]
    order: list[int] = []
    seen = {atom for atom in waiting if atom >= 0}
    waiting = list(seen)
    while waiting:
        atom = waiting.pop()
        if bodies[atom]:
            order.append(atom)
        for body in bodies[atom]:
            for other in body:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
    return order[::-1]


def _chosen(board: _Board, turn: int | None, together: Counter[_Members]) -> list[_Members]:
    """The tuples to use: the largest, from all sources in turn, as long as there is room."""
    radix = [v.radix for v in board.variables]
    counted: Counter[_Members] = Counter()
    for members, count in together.items():
        rest = tuple(member for member in members if member != turn)
        if len(rest) > 1:
            counted[rest] += count
    chosen: list[_Members] = []
    entries = 0
    each = 1 if turn is None else radix[turn]
    for source in (_largest(counted), list(board.windows()), _stars(counted, radix)):
        for members in source:
            size = prod(radix[member] for member in members)
            fits = size <= _TABLE and entries + each * size <= MOST_ENTRIES and len(chosen) < MOST_TUPLES
            if fits and not any(set(members) <= set(other) for other in chosen):
                # Tuples inside a larger one are not needed.
                chosen = [other for other in chosen if not set(other) < set(members)]
                chosen.append(members)
                entries = each * sum(prod(radix[member] for member in other) for other in chosen)
    return chosen


def _largest(counted: Counter[_Members]) -> list[_Members]:
    """The sets that are not inside another one, the longest and most frequent first."""
    order = sorted(counted, key=lambda members: (-len(members), -counted[members], members))
    largest: list[_Members] = []
    holding: dict[int, list[set[int]]] = defaultdict(list)
    for members in order:
        if not any(other.issuperset(members) for other in holding[members[0]]):
            largest.append(members)
            for member in members:
                holding[member].append(set(members))
    return largest


def _stars(counted: Counter[_Members], radix: list[int]) -> Iterable[_Members]:
    """Each variable with the variables that rules most often ask for together with it, as many as fit into a
    table."""
    companions: dict[int, Counter[int]] = defaultdict(Counter)
    for members, count in counted.items():
        for member in members:
            for other in members:
                if other != member:
                    companions[member][other] += count
    for member, others in sorted(companions.items()):
        star = [member]
        for other, _ in others.most_common():
            if prod(radix[n] for n in (*star, other)) <= _TABLE:
                star.append(other)
        if len(star) > 2:
            yield tuple(sorted(star))
