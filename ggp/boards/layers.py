"""Layers: finds the arguments of a functor that say where something stands, from the states of a game
alone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from operator import itemgetter

from gdl.rules import Rules, literals
from gdl.terms import ARITIES, NEXT, TRUE, Term
from ggp.boards.statics import CoordinateOrder

Square = tuple[tuple[Term, ...], Term, Term]
"""Panel (empty except for games on several boards), column and row."""
Thing = tuple[Term, ...]
"""The terms that name what stands on a square."""
MOST_SIDE = 40
_MOST_HINTED_SIDE = 128
"""The same limit if the rules have hints for drawings: the streets of a city, say."""
_MOST_PANELS = 12
_MOST_STACKED = 1.5
_MOST_SHARED = 1.15
_NOWHERE = Term("")
_NAMED_SQUARE = re.compile(r"([a-z])([0-9]{1,2})")


def most_side(rules: Rules) -> int:
    """The largest number of columns or rows that a board may have."""
    return _MOST_HINTED_SIDE if rules.hints else MOST_SIDE


@dataclass(frozen=True)
class Layer:
    """Propositions (or facts) of one functor as things on squares.

    Attributes:
        name, arity: the functor.
        x, y: places of column and row among the arguments. Both are the same place if one argument names the
            square, such as ``a1``. y is -1 for strips, which have columns only.
        panel: places of the arguments that name the board, if there are several boards.
        named: whether the functor is part of the thing (another layer has the same things).
        turned: whether the letter of a square's name is its row.
        split: whether the functor names a board of its own (other layers have the same things there).
        across: two roles, if the board named is that of the other one, as for shots.
        at: squares by the arguments for column, row and panel, if these name dots around the squares.
    """

    name: str
    arity: int
    x: int
    y: int
    panel: tuple[int, ...] = ()
    named: bool = False
    turned: bool = False
    split: bool = False
    across: tuple[Term, ...] = ()
    at: Mapping[tuple[Term, ...], Square] = field(default_factory=dict, hash=False)

    def fits(self, term: Term) -> bool:
        """Whether a proposition is of this layer."""
        return term.name == self.name and len(term.args) == self.arity

    @property
    def strip(self) -> bool:
        """Whether the squares are in one row."""
        return self.y < 0

    @cached_property
    def contents(self) -> tuple[int, ...]:
        """Places of the arguments that name the thing on the square."""
        where = (*self.panel, self.x, self.y)
        return tuple(i for i in range(self.arity) if i not in where)

    def square(self, term: Term) -> Square:
        """The square of a proposition of the layer."""
        if self.at:
            dots = tuple(term.args[i] for i in (self.x, self.y, *self.panel))
            return self.at.get(dots, (dots, _NOWHERE, _NOWHERE))
        panel = (Term(self.name),) if self.split else self.sea(*(term.args[i] for i in self.panel))
        if self.strip:
            return panel, term.args[self.x], _NOWHERE
        if self.x == self.y:
            letter, number = split_name(term.args[self.x])
            return (panel, number, letter) if self.turned else (panel, letter, number)
        return panel, term.args[self.x], term.args[self.y]

    def sea(self, *named: Term) -> tuple[Term, ...]:
        """The board of a proposition with these arguments for it; the other role's if things lie across."""
        return tuple(role for role in self.across if role not in named) if self.across else named

    def transposed(self) -> Layer:
        """The layer with columns and rows exchanged, and the coordinates of panels too if they have two."""
        return replace(self, x=self.y, y=self.x, panel=self.panel[::-1], turned=not self.turned)

    def thing(self, term: Term) -> Thing:
        """The thing that a proposition puts on its square: the remaining arguments, or the functor if none
        remain."""
        things = tuple(term.args[i] for i in self.contents)
        return things if things and not self.named else (Term(self.name), *things)


def things_on(layers: Iterable[Layer], propositions: Iterable[Term]) -> Iterator[tuple[Square, Thing]]:
    """Square and thing of each proposition of a layer."""
    by_functor = {(layer.name, layer.arity): layer for layer in layers}
    for term in propositions:
        layer = by_functor.get(term.signature)
        if layer is not None:
            yield layer.square(term), layer.thing(term)


def is_number(thing: Thing) -> bool:
    """Whether all words of a thing are decimal numbers."""
    return all(term.name.isdecimal() for term in thing)


def amount(term: Term, otherwise: int = 1) -> int:
    """The number of at most three digits that a term is; ``otherwise`` for other terms."""
    return int(term.name) if term.name.isdecimal() and len(term.name) < 4 else otherwise


def transposed(square: Square) -> Square:
    """The square with column and row exchanged."""
    panel, x, y = square
    return panel[::-1], y, x


def named_squares(rules: Rules, used: set[Square]) -> set[Square]:
    """The squares with names such as ``a1`` in the shortest list among the facts that has all squares
    used."""
    lists: dict[tuple[str, int, int], set[Term]] = defaultdict(set)
    for rule in rules:
        if not rule.body and rule.head.name not in ARITIES:
            for i, arg in enumerate(rule.head.args):
                lists[rule.head.name, len(rule.head.args), i].add(arg)
    found: list[set[Square]] = [
        {((), *split_name(name)) for name in names}
        for names in lists.values()
        if all(_NAMED_SQUARE.fullmatch(name.name) for name in names)
    ]
    return min((squares for squares in found if used <= squares), key=len, default=set())


def split_name(name: Term) -> tuple[Term, Term]:
    """Letter and number of a square's name such as ``a1``."""
    match = _NAMED_SQUARE.fullmatch(name.name)
    return (Term(match[1]), Term(match[2])) if match else (name, _NOWHERE)


@dataclass(frozen=True)
class LayerCandidate:
    """A layer that may be drawn.

    Attributes:
        layer, terms: the layer, and its possible propositions.
        most: the largest number of them that are true at once.
        ground: the thing below all others, if one stands on every square in every state.
    """

    layer: Layer
    terms: set[Term]
    most: int
    ground: Thing | None = None

    @cached_property
    def columns(self) -> set[Term]:
        return {x for _, x, _ in self.squares}

    @cached_property
    def rows(self) -> set[Term]:
        return {y for _, _, y in self.squares}

    @cached_property
    def squares(self) -> set[Square]:
        return set(map(self.layer.square, self.terms))

    @cached_property
    def things(self) -> set[Thing]:
        return set(map(self.layer.thing, self.terms))

    @property
    def between(self) -> bool:
        """Whether its contents are two more coordinates, for example of a wall between two squares."""
        first = {self.layer.x, self.layer.y, *self.layer.panel}
        rest = [i for i in range(self.layer.arity) if i not in first]
        names = [{term.args[i] for term in self.terms} for i in rest]
        sides = self.columns, self.rows
        return sum(len(n) > 2 and any(2 * len(n & side) > len(n) for side in sides) for n in names) > 1


def twins(a: LayerCandidate, b: LayerCandidate) -> bool:
    """Whether two layers are separate boards with the same things on the same squares."""
    one, two = a.layer, b.layer
    if (one.arity, one.x, one.y) != (two.arity, two.x, two.y) or one.panel or two.panel or one.strip:
        return False
    sizes = sorted((len(a.squares), len(b.squares)))
    alike = (a.things <= b.things or b.things <= a.things) and 3 * sizes[0] > sizes[1]
    return bool(one.contents) and min(a.most, b.most) > 2 and alike


class LayerFinder:
    """Finds layers among functors, from some states of the game and the comparisons in its rules."""

    def __init__(
        self, rules: Rules, roles: tuple[Term, ...], states: list[frozenset[Term]], order: CoordinateOrder
    ) -> None:
        self._rules = rules
        self._roles = set(roles)
        self._states = states
        self._order = order
        self._most_side = most_side(rules)

    def find(self, terms: set[Term]) -> LayerCandidate | None:
        """The best layer of one functor, given its possible propositions."""
        signature = next(iter(terms)).signature
        if signature[1] < 2:
            return None
        seen = [[t for t in state if t.signature == signature] for state in self._states]
        most = max(map(len, seen))
        if signature[1] == 2 and _relates(terms, seen):
            return None
        if most == 1 and signature[1] > 4:
            return None  # This is a row of a table, not a thing on a square.
        layer = self._grid(terms, seen) or self._named_squares(terms, seen) or self._strip(terms, seen)
        always = set(seen[0]).intersection(*seen[1:])
        alike = any(len({t.args[i] for t in always}) == 1 for i in range(signature[1]))
        if layer is not None and layer.panel and alike and always != terms:
            rest = terms - always
            above = self._grid(rest, [[t for t in state if t not in always] for state in seen], True)
            if above is not None and above.contents and len(above.panel) < len(layer.panel):
                grounds = set(map(above.thing, always))
                whole = set(map(above.square, always)) >= set(map(above.square, rest))
                timers = all(self._order.sure({t.args[i] for t in terms}) for i in above.contents)
                if len(grounds) == 1 and whole and timers:
                    return LayerCandidate(above, terms, most, grounds.pop())
        return LayerCandidate(layer, terms, most) if layer is not None else None

    def _sides(self, terms: set[Term], arity: int) -> list[int]:
        """Places whose arguments may be coordinates."""
        sides = []
        for i in range(arity):
            domain = {t.args[i] for t in terms}
            fits = 2 <= len(domain) <= self._most_side and not domain & self._roles
            if fits and not any(t.args for t in domain):
                sides.append(i)
        return sides

    def _grid(self, terms: set[Term], seen: list[list[Term]], loose: bool = False) -> Layer | None:
        """The layer, if two arguments are coordinates. With ``loose``, similar sides come before a key."""
        name, arity = next(iter(terms)).signature
        order = self._order
        domains = [{t.args[i] for t in terms} for i in range(arity)]
        votes = self._votes(name, arity)
        best: tuple[tuple[float, ...], Layer] | None = None
        crowds: dict[tuple[int, ...], tuple[float, float]] = {}
        for x, y in combinations(self._sides(terms, arity), 2):
            pairs = {(t.args[x], t.args[y]) for t in terms}
            if len(pairs) < 0.2 * len(domains[x]) * len(domains[y]):
                continue
            if arity == 2 and domains[x] != domains[y] and (_total(terms, seen, 0) or _total(terms, seen, 1)):
                continue  # This is a number or a state for each of some things.
            rest = [i for i in range(arity) if i not in (x, y)]
            orderly = order.sure(domains[x]) + order.sure(domains[y])
            alike = len(domains[x] & domains[y]) / len(domains[x] | domains[y])
            for extra in range(min(3, len(rest) + 1)):
                if best is not None and -extra < best[0][0]:
                    break
                if orderly == 0 and arity - extra < 3:
                    continue
                for panel in combinations(rest, extra):
                    layer = Layer(name, arity, x, y, panel)
                    if len({layer.square(t)[0] for t in terms}) > _MOST_PANELS:
                        continue
                    where = tuple(sorted((x, y, *panel)))
                    if where not in crowds:
                        crowds[where] = _crowd(where, seen)
                    key = crowds[where][0] == 1
                    if not key and orderly < 2:
                        continue
                    if not key and not loose and not self._stacked(layer, domains, seen, *crowds[where]):
                        continue
                    among = (votes[x] + votes[y], alike) if extra else (0, 0)
                    # Two ordered sides whose squares sometimes hold more than one thing are likelier than a
                    # key.
                    nearly = key or (orderly == 2 and crowds[where][1] <= _MOST_SHARED)
                    first = (alike, key) if loose else (nearly, 0)
                    score = (-extra, *first, orderly, *among, -x, -y)
                    if best is None or score > best[0]:
                        best = score, layer
        return best[1] if best else None

    def _stacked(
        self, layer: Layer, domains: list[set[Term]], seen: list[list[Term]], most: float, mean: float
    ) -> bool:
        """Whether things may share squares: either few of them do and they are not coordinates themselves, or
        each thing stands on one square only."""
        numbers = any(self._order.sure(domains[i]) for i in layer.contents)
        if most <= _MOST_STACKED and not numbers:
            return True
        if mean > 2 * _MOST_STACKED:
            return False
        if layer.arity == 3 and layer.contents and not numbers and mean <= _MOST_STACKED:
            return True
        once = all(len(set(map(layer.thing, terms))) == len(terms) for terms in seen)
        return bool(layer.contents) and once

    def _votes(self, name: str, arity: int) -> list[int]:
        """For each argument, the number of rules that use several of its values: coordinates score high."""
        votes = [0] * arity
        for rule in self._rules:
            if not rule.body:
                continue
            atoms = [lit.atom for f in rule.body for lit, _ in literals(f) if lit.atom.name == TRUE]
            atoms += [rule.head] if rule.head.name == NEXT else []
            inner = [atom.args[0] for atom in atoms if atom.args[0].signature == (name, arity)]
            for i in range(arity):
                column = [term.args[i] for term in inner]
                constant = any(not arg.is_variable and arg.ground for arg in column)
                votes[i] += constant or len(set(column)) > 1
        return votes

    def _named_squares(self, terms: set[Term], seen: list[list[Term]]) -> Layer | None:
        """The layer, if one argument names squares such as ``a1``. Such names are squares even if they are
        not a key."""
        name, arity = next(iter(terms)).signature
        for x in range(arity):
            domain = {t.args[x] for t in terms}
            if not all(_NAMED_SQUARE.fullmatch(t.name) and not t.args for t in domain):
                continue
            if any(domain & {t.args[i] for t in terms} for i in range(arity) if i != x):
                continue  # These are things on things.
            layer = Layer(name, arity, x, x)
            columns, rows = (set(side) for side in zip(*map(split_name, domain), strict=True))
            full = len(domain) >= 0.3 * len(columns) * len(rows)
            if min(len(columns), len(rows)) > 1 and full and _crowd((x,), seen)[0] <= _MOST_STACKED:
                return layer
        return None

    def _strip(self, terms: set[Term], seen: list[list[Term]]) -> Layer | None:
        """The layer, if each value of one argument always occurs in exactly one proposition: squares in a
        row."""
        name, arity = next(iter(terms)).signature
        for x in self._sides(terms, arity):
            domain = {t.args[x] for t in terms}
            if len(domain) >= 4 and arity <= 3 and _total(terms, seen, x):
                return Layer(name, arity, x, -1)
        return None


def _relates(terms: set[Term], seen: list[list[Term]]) -> bool:
    """Whether pairs are things on things, not squares.

    Both places have the same things. Either no thing is paired with itself and each occurs at most once per
    place, or each always occurs exactly once in both places.
    """
    first, second = ({t.args[i] for t in terms} for i in (0, 1))
    if not first & second:
        return False
    once = all(len({t.args[i] for t in state}) == len(state) for state in seen for i in (0, 1))
    always = once and first == second and all(len(state) == len(first) for state in seen) and len(seen) > 2
    names = first | second
    apart = once and len(names) > 2 and all(t.args[0] != t.args[1] for t in terms)
    return (always and len(first) > 3) or (apart and not all(n.name.isdecimal() for n in names))


def _total(terms: set[Term], seen: list[list[Term]], place: int) -> bool:
    """Whether each value in a place occurs in exactly one proposition in every state."""
    domain = Counter({t.args[place]: 1 for t in terms})
    return all(Counter(t.args[place] for t in state) == domain for state in seen)


def _crowd(where: tuple[int, ...], seen: list[list[Term]]) -> tuple[float, float]:
    """Propositions per occupied square, as the maximum over states (1 for a key) and as the mean over all
    states. These places of the arguments name the square."""
    square = itemgetter(*where)
    sizes = [(len(terms), len({square(t.args) for t in terms})) for terms in seen if terms]
    if not sizes:
        return 1, 1
    return max(n / squares for n, squares in sizes), sum(n for n, _ in sizes) / sum(k for _, k in sizes)
