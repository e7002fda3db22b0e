"""`CoverProblem`: items to be covered and options that cover them, as flat arrays.

The exact cover of D. E. Knuth, The Art of Computer Programming 4B, section 7.2.2.1, with multiplicities
(his algorithm M), colours (algorithm C), and the weights and holes of A. Röver's BurrTools.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError


class CoverError(GdlError):
    """A cover problem that contradicts itself: the message names the fault and the remedy."""


@dataclass(frozen=True, eq=False, slots=True)
class CoverProblem:
    """The problem of finding sets of options that bring every item to a weight within its bounds.

    A *solution* is a set of options such that for each item the weights of the chosen options' nodes in it
    add up to at least its minimum and at most its maximum, the coloured nodes of each item agree, and at most
    `holes` of the `may_be_hole` items have no chosen option. An option is chosen at most once, and an item
    stands at most once in an option. A solution is a set: the order of its options does not count.

    Attributes:
        minimum, maximum: int32[items], 0 <= minimum <= maximum. (1, 1) is Knuth's primary item, (0, 1) his
            secondary or an optional item.
        starts: int32[options + 1]; the nodes of option o are starts[o] to starts[o + 1].
        nodes: int32[nodes]: the item of each node.
        weights: int32[nodes], at least 1: the weight that the node adds to its item.
        colours: int32[nodes], 0 for none. An item with any coloured node has minimum 0, and its maximum and
            weights do not matter: chosen nodes in it are either all of one colour, or a single one
            without.
        may_be_hole: bool[items]: the items that count as holes when nothing covers them.
        holes: the most holes a solution may have; None for any number.
        item_names, option_names: shown to users; empty if there are none.

    >>> problem = CoverProblem.of(["a", "b", "c"], [["a", "b"], ["c"], ["a"], ["b", "c"]])
    >>> problem.items, problem.options
    (3, 4)
    >>> problem.option(3).tolist()
    [1, 2]
    """

    minimum: NDArray[np.int32]
    maximum: NDArray[np.int32]
    starts: NDArray[np.int32]
    nodes: NDArray[np.int32]
    weights: NDArray[np.int32]
    colours: NDArray[np.int32]
    may_be_hole: NDArray[np.bool_]
    holes: int | None = None
    item_names: tuple[str, ...] = field(default=())
    option_names: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        primary: Sequence[str],
        options: Iterable[Iterable[str]],
        *,
        secondary: Sequence[str] = (),
    ) -> CoverProblem:
        """Return an exact cover from names: each primary item exactly once, each secondary item at most once.

        An option's item `name:colour` has a colour. Raises CoverError for an unknown item, or an item that
        stands twice in an option.
        """
        names = (*primary, *secondary)
        number = {name: i for i, name in enumerate(names)}
        if len(number) < len(names):
            raise CoverError("an item is named twice", remedy="give each item a name of its own")
        shades: dict[str, int] = {}
        starts, nodes, colours = [0], [], []
        for option in options:
            for entry in option:
                name, _, shade = entry.partition(":")
                if name not in number:
                    raise CoverError(
                        f"option {len(starts)} has unknown item {name!r}", remedy="list it among the items"
                    )
                nodes.append(number[name])
                colours.append(shades.setdefault(shade, len(shades) + 1) if shade else 0)
            starts.append(len(nodes))
        minimum = np.zeros(len(names), np.int32)
        minimum[: len(primary)] = 1
        problem = cls(
            minimum,
            np.ones(len(names), np.int32),
            np.array(starts, np.int32),
            np.array(nodes, np.int32),
            np.ones(len(nodes), np.int32),
            np.array(colours, np.int32),
            np.zeros(len(names), np.bool_),
            item_names=names,
        )
        problem.check()
        return problem

    @property
    def items(self) -> int:
        """The number of items."""
        return len(self.minimum)

    @property
    def options(self) -> int:
        """The number of options."""
        return len(self.starts) - 1

    def option(self, option: int) -> NDArray[np.int32]:
        """Return the items of an option, int32[its nodes]."""
        return self.nodes[self.starts[option] : self.starts[option + 1]]

    def coloured(self) -> NDArray[np.bool_]:
        """Return which items have a coloured node, bool[items]."""
        found = np.zeros(self.items, np.bool_)
        found[self.nodes[self.colours > 0]] = True
        return found

    def check(self) -> None:
        """Raise CoverError if anything contradicts the description of the attributes."""
        items, nodes = self.items, len(self.nodes)
        if len(self.maximum) != items or len(self.may_be_hole) != items:
            raise CoverError(
                "bounds and items differ in number", remedy="give every item a minimum and a maximum"
            )
        if (
            not len(self.weights)
            == len(self.colours)
            == nodes
            == (self.starts[-1] if len(self.starts) else -1)
        ):
            raise CoverError(
                "weights, colours and nodes differ in number", remedy="give each node one of each"
            )
        if (np.diff(self.starts) < 0).any() or self.starts[0] != 0:
            raise CoverError("starts do not ascend from 0", remedy="write the options one after another")
        if nodes and not (self.nodes.min() >= 0 and self.nodes.max() < items):
            raise CoverError("a node names no item", remedy=f"items are 0 to {items - 1}")
        if ((self.minimum < 0) | (self.minimum > self.maximum)).any():
            raise CoverError("an item's minimum is above its maximum, or negative", remedy="mend its bounds")
        if nodes and (self.weights.min() < 1 or self.colours.min() < 0):
            raise CoverError("a weight is below 1 or a colour below 0", remedy="mend the node")
        if (self.minimum[self.coloured()] > 0).any():
            raise CoverError("a coloured item has a minimum", remedy="make it optional: minimum 0")
        owner = np.repeat(np.arange(self.options, dtype=np.int64), np.diff(self.starts))
        pairs = np.sort(owner * max(items, 1) + self.nodes)
        twice = np.flatnonzero(pairs[1:] == pairs[:-1])
        if len(twice):
            option, item = divmod(int(pairs[twice[0]]), items)
            raise CoverError(f"item {item} stands twice in option {option}", remedy="give it a weight of 2")


@dataclass(frozen=True, eq=False, slots=True)
class CoverRest:
    """A smaller problem, without names: its option k is option `options[k]` of the whole one, int32."""

    problem: CoverProblem
    options: NDArray[np.int32]


def restricted(
    problem: CoverProblem,
    chosen: Sequence[int] | NDArray[np.integer],
    dropped: Sequence[int] | NDArray[np.integer],
) -> CoverRest | None:
    """Return the rest of a problem after options are chosen and dropped; None if it clearly has no solution.

    The solutions of the rest, together with the chosen options, are the solutions of the whole problem that
    have all chosen options and no dropped one. Items that no option covers are left out. If no option is
    left, the empty set is the only solution of the rest.
    """
    items = problem.items
    owner = np.repeat(np.arange(problem.options, dtype=np.int32), np.diff(problem.starts))
    taken = np.zeros(problem.options, np.bool_)
    taken[np.asarray(chosen, np.int64)] = True
    used = taken[owner]
    sums = np.bincount(problem.nodes[used], problem.weights[used], items).astype(np.int64)
    coloured = problem.coloured()
    # Without coloured nodes the item can no longer be coloured, but a single node still fits.
    maximum = np.where(coloured, 1, problem.maximum - sums)
    minimum = np.maximum(problem.minimum - sums, 0)
    if (maximum < 0).any():
        return None
    # The current colour of an item: -1 none yet, 0 closed to all.
    shade = np.full(items, -1, np.int64)
    for node in np.flatnonzero(used & coloured[problem.nodes]):
        item, colour = problem.nodes[node], problem.colours[node]
        if shade[item] >= 0 and (shade[item] != colour or colour == 0):
            return None
        shade[item] = colour

    now = shade[problem.nodes]
    fits = (now < 0) | ((now > 0) & (now == problem.colours))
    fits &= coloured[problem.nodes] | (problem.weights <= maximum[problem.nodes])
    alive = ~taken
    alive[np.asarray(dropped, np.int64)] = False
    alive[owner[~fits]] = False
    live = alive[owner]
    reachable = np.bincount(problem.nodes[live], problem.weights[live], items)
    if (reachable < minimum).any():
        return None
    may_be_hole = problem.may_be_hole & (sums == 0)
    stays = reachable > 0
    holes = problem.holes
    if holes is not None:
        holes -= int((may_be_hole & ~stays).sum())
        if holes < 0:
            return None
    number = np.cumsum(stays, dtype=np.int32) - 1
    options = np.flatnonzero(alive).astype(np.int32)
    lengths = np.diff(problem.starts)[options]
    starts = np.zeros(len(options) + 1, np.int32)
    np.cumsum(lengths, out=starts[1:])
    rest = CoverProblem(
        minimum[stays].astype(np.int32),
        maximum[stays].astype(np.int32),
        starts,
        number[problem.nodes[live]].astype(np.int32),
        np.where(coloured[problem.nodes[live]], 1, problem.weights[live]).astype(np.int32),
        problem.colours[live],
        may_be_hole[stays],
        holes,
    )
    return CoverRest(rest, options)
