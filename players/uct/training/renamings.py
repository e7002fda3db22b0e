"""Renamings of a game's propositions and moves that turn its board, found from the rules' coordinates.

Argument places such as those of columns in ``(cell a 1 red)`` and ``(place a 1)`` belong together if a rule
gives them the same variable, or if rules of relations between them do. Where the constants of such a class
have an order they may be reversed; those of two classes with as many constants may be exchanged; roles may
change their names. Whether the game notices it is for others to find out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gdl.rules import Rule, Rules, literals
from gdl.terms import Term
from players.knowledge.variables import Coordinates
from propnet.network import Network
from propnet.symmetries.group import Automorphism

Place = tuple[str, str, int, int]
"""An argument: of what (``state``, ``move`` or ``relation``), its name, number of arguments, and which."""

_STATE, _MOVE = frozenset({"true", "next", "base", "init"}), frozenset({"does", "legal", "input"})
_FEWEST = 3
"""Constants of a class that is taken for coordinates."""


@dataclass(frozen=True)
class _Axis:
    """A class of places, and its constants in order."""

    places: frozenset[Place]
    constants: tuple[Term, ...]

    @cached_property
    def rank(self) -> dict[Term, int]:
        """Where each constant stands in the order."""
        return {term: rank for rank, term in enumerate(self.constants)}

    @cached_property
    def where(self) -> dict[tuple[str, str, int], list[int]]:
        """Which arguments belong to it, of what, of which name and with how many arguments."""
        found: dict[tuple[str, str, int], list[int]] = defaultdict(list)
        for kind, name, arguments, place in sorted(self.places):
            found[kind, name, arguments].append(place)
        return dict(found)


@dataclass(frozen=True)
class _Turn:
    """A turn of the board: which of two axes are reversed, whether they are then exchanged, and what other
    constants are called."""

    axes: tuple[_Axis, ...]
    reversed_: tuple[bool, ...]
    exchanged: bool
    names: dict[Term, Term]

    def of(self, kind: str, term: Term) -> Term:
        """What a proposition or a move is called; itself where that cannot be said."""
        arguments = [self._renamed(argument) for argument in term.args]
        where = [axis.where.get((kind, term.name, len(term.args)), []) for axis in self.axes]
        for number, axis in enumerate(self.axes):
            target = 1 - number if self.exchanged else number
            if len(where[number]) != len(where[target]):
                return term
            for place, to in zip(where[number], where[target], strict=True):
                rank = axis.rank.get(term.args[place])
                if rank is None:
                    return term
                if self.reversed_[number]:
                    rank = len(axis.constants) - 1 - rank
                arguments[to] = self.axes[target].constants[rank]
        return Term(self.names.get(term, term).name, *arguments)

    def _renamed(self, term: Term) -> Term:
        if not term.args:
            return self.names.get(term, term)
        return Term(term.name, *map(self._renamed, term.args))


def renamings(rules: Rules, network: Network) -> Iterator[Automorphism]:
    """Permutations that may be automorphisms of the game, 23 at most, none the identity; roles 0 and 1 are
    exchanged in some if there are two."""
    axes = _axes(rules, network)[:2]
    exchanges = (False, True) if len(axes) == 2 and _alike(axes) else (False,)
    names = [{}, *_names_exchanged(network)]
    reversals = product((False, True), repeat=len(axes))
    for exchanged, renamed, reversed_ in product(exchanges, names, reversals):
        if exchanged or renamed or any(reversed_):
            found = _permutation(network, _Turn(tuple(axes), reversed_, exchanged, renamed))
            if found is not None:
                yield found


def _names_exchanged(network: Network) -> list[dict[Term, Term]]:
    """What constants may be called where the two roles are exchanged: the roles alone, or also what begins
    with their letters, as ``wp`` and ``bp``."""
    if len(network.roles) != 2:
        return []
    first, second = network.roles
    roles = {first: second, second: first}
    if first.name[0] == second.name[0]:
        return [roles]
    letters = {first.name[0]: second.name[0], second.name[0]: first.name[0]}
    constants = {argument for term in network.bases for argument in term.args if not argument.args}
    others = {
        term: Term(letters[term.name[0]] + term.name[1:]) for term in constants if term.name[0] in letters
    }
    pairs = {term: other for term, other in others.items() if other in constants and term not in roles}
    return [roles, pairs | roles] if pairs else [roles]


def _alike(axes: list[_Axis]) -> bool:
    return len(axes[0].constants) == len(axes[1].constants)


def _permutation(network: Network, turn: _Turn) -> Automorphism | None:
    """The renaming as a permutation; None if it is none."""
    roles = (1, 0) if turn.names else tuple(range(len(network.roles)))
    bases = _images("state", network.bases, network.bases, turn)
    if bases is None:
        return None
    moves, first = [], np.cumsum([0, *map(len, network.moves)])
    for role, mine in enumerate(network.moves):
        found = _images("move", mine, network.moves[roles[role]], turn)
        if found is None:
            return None
        moves.append(found + int(first[roles[role]]))
    return Automorphism(bases, np.concatenate(moves).astype(np.int32), roles)


def _images(
    kind: str, terms: tuple[Term, ...], targets: tuple[Term, ...], turn: _Turn
) -> NDArray[np.int32] | None:
    """The places of the terms' images among the targets, int32, shape (terms,); None if some have none."""
    if len(terms) != len(targets):
        return None
    place = {term: number for number, term in enumerate(targets)}
    found: list[int] = []
    for term in terms:
        image = place.pop(turn.of(kind, term), -1)
        if image < 0:
            return None
        found.append(image)
    return np.array(found, np.int32)


def _axes(rules: Rules, network: Network) -> list[_Axis]:
    """Classes of places of base propositions whose constants have an order, those of most propositions
    first."""
    constants: dict[Place, dict[Term, None]] = defaultdict(dict)
    counts: dict[Place, int] = defaultdict(int)
    moves = dict.fromkeys(term for mine in network.moves for term in mine)
    for kind, terms in (("state", network.bases), ("move", moves)):
        for term in terms:
            for number, argument in enumerate(term.args):
                place = kind, term.name, len(term.args), number
                constants[place][argument] = None
                counts[place] += kind == "state" and len(term.args) > 1
    order = Coordinates(rules)
    found: list[tuple[int, _Axis]] = []
    for places in _classes(rules):
        inside = dict.fromkeys(term for place in places for term in constants.get(place, {}))
        weight = max((counts[place] for place in places), default=0)
        if weight and len(inside) >= _FEWEST and (ranks := order.order(inside)) is not None:
            ordered = tuple(sorted(ranks, key=lambda term: ranks[term]))
            found.append((weight, _Axis(frozenset(places), ordered)))
    found.sort(key=lambda entry: -entry[0])
    return [axis for _, axis in found]


def _classes(rules: Rules) -> list[list[Place]]:
    """Argument places that rules give the same variables; relations that do not change lead to no others:
    a table of neighbours has rows beside columns."""
    changing = _changing(rules)
    leader: dict[Place, Place] = {}

    def lead(place: Place) -> Place:
        while leader.setdefault(place, place) != place:
            place = leader[place]
        return place

    for rule in rules:
        of: dict[Term, Place] = {}
        for place, variable in _variables(rule, changing):
            leader[lead(place)] = lead(of.setdefault(variable, place))
    classes: dict[Place, list[Place]] = defaultdict(list)
    for place in leader:
        classes[lead(place)].append(place)
    return list(classes.values())


def _changing(rules: Rules) -> set[str]:
    """The relations that depend on the state or on moves."""
    bodies: dict[str, set[str]] = defaultdict(set)
    for rule in rules:
        for formula in rule.body:
            bodies[rule.head.name] |= {literal.atom.name for literal, _ in literals(formula)}
    changing = {"true", "does"}
    while more := {name for name, read in bodies.items() if name not in changing and read & changing}:
        changing |= more
    return changing


def _variables(rule: Rule, changing: set[str]) -> Iterator[tuple[Place, Term]]:
    """The places of a rule's variables in states, moves and relations that change."""
    atoms = [rule.head, *(literal.atom for formula in rule.body for literal, _ in literals(formula))]
    for atom in atoms:
        kind = "relation"
        if (atom.name in _STATE or atom.name in _MOVE) and atom.args:
            kind = "state" if atom.name in _STATE else "move"
            atom = atom.args[-1]
        elif atom.name not in changing:
            continue
        for number, argument in enumerate(atom.args):
            if argument.is_variable:
                yield (kind, atom.name, len(atom.args), number), argument
