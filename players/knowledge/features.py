"""Features of states: base propositions, and shapes that several propositions have in common.

The shapes of ``(cell 3 4 queen)`` leave some of its arguments open: ``(cell * * queen)`` counts queens,
``(cell 3 * queen)`` those of a column (A. Samuel's and M. Buro's tied patterns, found from the form of
terms). So the lessons of one queen's place serve all places. A state's value is a sum over its features, and
so a sum over its propositions: each has the sum of the weights of its shapes.

Names are canonical (:class:`players.knowledge.canonical_rules.CanonicalNames`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.knowledge import Floats, GameKnowledge, KnowledgeError
from propnet.jit.arrays import Int32s
from propnet.jit.decorators import kernel

CONSTANT = "1"
"""The feature that all states have."""
MOST_PROPOSITIONS = 20_000
"""Games with more propositions are not learnt."""
_MOST_OPEN = 4
"""Terms with more arguments have fewer shapes: those with one argument open, one argument left, and none
left."""


def shapes(term: Term, names: CanonicalNames) -> Iterator[str]:
    """The names of a proposition's features: its own first, then those with more and more arguments open."""
    arguments = [names.key(argument) for argument in term.args]
    yield names.key(term)
    name = names.new.get(term.name, term.name)
    for mask in _kept_arguments(len(arguments)):
        parts = [text if keep else "*" for text, keep in zip(arguments, mask, strict=True)]
        yield f"({name} {' '.join(parts)})"


def _kept_arguments(arguments: int) -> Iterator[tuple[bool, ...]]:
    """The arguments that each shape keeps, never all of them."""
    if arguments <= _MOST_OPEN:
        yield from (mask for mask in product((True, False), repeat=arguments) if not all(mask))
        return
    places = range(arguments)
    yield from (tuple(place != one for place in places) for one in places)
    yield from (tuple(place == one for place in places) for one in places)
    yield (False,) * arguments


@kernel(nogil=True)
def sums_of_features(start: Int32s, feature: Int32s, weights: Floats, bases: Floats) -> None:
    """Fill in the additions of propositions, float32, shape (bases + 1, width), from the weights of features,
    shape (features, width). Proposition b has the features ``feature[start[b]:start[b + 1]]``; all states
    have feature 0."""
    width = weights.shape[1]
    last = bases.shape[0] - 1
    for j in range(width):
        bases[last, j] = weights[0, j]
    for base in range(last):
        for j in range(width):
            bases[base, j] = np.float32(0.0)
        for entry in range(start[base], start[base + 1]):
            number = feature[entry]
            for j in range(width):
                bases[base, j] += weights[number, j]


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a game's states.

    Attributes:
        names: of all features, the constant one first.
        start, feature: int32, shape (bases + 1,) and (entries,): proposition b has the features
            ``feature[start[b]:start[b + 1]]``.
    """

    names: tuple[str, ...]
    start: NDArray[np.int32]
    feature: NDArray[np.int32]

    @staticmethod
    def of(bases: tuple[Term, ...], names: CanonicalNames) -> Features:
        """The features of states over these propositions. Shapes that the same propositions have are one
        feature. Raises KnowledgeError for more than MOST_PROPOSITIONS."""
        if len(bases) > MOST_PROPOSITIONS:
            raise KnowledgeError(
                f"the game has {len(bases):,} propositions, more than {MOST_PROPOSITIONS:,}",
                remedy="it is played without knowledge",
            )
        members: dict[str, list[int]] = {}
        for place, term in enumerate(bases):
            for name in shapes(term, names):
                members.setdefault(name, []).append(place)
        # The one with the most arguments open is the most general: its name is taken.
        chosen = {tuple(some): name for name, some in members.items()}
        ordered = sorted(chosen.items(), key=lambda item: item[1])
        of_base: list[list[int]] = [[] for _ in bases]
        for number, (some, _) in enumerate(ordered, 1):
            for base in some:
                of_base[base].append(number)
        start = np.cumsum([0, *map(len, of_base)]).astype(np.int32)
        feature = np.array([number for numbers in of_base for number in numbers], np.int32)
        return Features((CONSTANT, *(name for _, name in ordered)), start, feature)

    @property
    def bases(self) -> int:
        """Number of propositions."""
        return len(self.start) - 1

    def weights_of_bases(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """The summed weights of propositions, shape (bases, columns), from those of features, shape
        (features, columns)."""
        sums = np.empty((len(self.start), weights.shape[1]), np.float32)
        sums_of_features(self.start, self.feature, np.ascontiguousarray(weights), sums)
        return sums[:-1]

    def arranged(self, knowledge: GameKnowledge) -> GameKnowledge:
        """The same knowledge over these features, in their order; 0 for features that it lacks."""
        place = {name: number for number, name in enumerate(knowledge.features)}
        rows = np.array([place.get(name, -1) for name in self.names])

        def over(array: NDArray[np.float32]) -> NDArray[np.float32]:
            return np.where((rows >= 0)[:, None], array[rows], np.float32(0))

        net = None if knowledge.net is None else replace(knowledge.net, first=over(knowledge.net.first))
        weights, sums, sizes = map(over, knowledge.arrays())
        return replace(knowledge, features=self.names, weights=weights, sums=sums, sizes=sizes, net=net)
