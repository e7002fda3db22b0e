"""Behaviour of things on a board, observed in some states of a game: which move, stay, are pushed, leave
trails.

Pictures are chosen by behaviour, so names need not be guessed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gdl.terms import Term
from ggp.boards.layers import Layer, Square, Thing, things_on

_MOST_STATES = 160
_MOST_THINGS = 150
"""Largest number of kinds of things whose steps are followed. For rules with more kinds (they may be hostile)
only counts are taken."""
_Squares = Mapping[Thing, set[Square]]


@dataclass(frozen=True, slots=True)
class PieceBehaviour:
    """The observed behaviour of each thing. A thing that was not seen is in none of the fields.

    Attributes:
        first: how many there are at first; no entry for things that are absent then.
        most, least: how many there are at once.
        moves: things one of which went from one square to another in a step, while no other of them did.
        stays: things that never left a square, in one step at least.
        comes: things that came to a square on which they had not been.
        pushed: things that went on by one square when another thing came to theirs.
        pushers: the things that pushed them.
        trails: things that came only to squares that a single thing (one of its kind) entered or left in the
            same step.
        turns: things that came to where another thing stood, if no square is ever left empty.
        towers: 1 if the columns of a strip are disks and the things on them pegs: only the first of the disks
            on a peg leaves it, and becomes the first on another. -1 if only the last disk does, otherwise 0.
        piles: whether each column holds things of one kind from the first row up, without gaps.
        drift: the columns that things of each kind went to the right, less those to the left, all together.
    """

    first: Mapping[Thing, int] = field(default_factory=dict)
    most: Mapping[Thing, int] = field(default_factory=dict)
    least: Mapping[Thing, int] = field(default_factory=dict)
    moves: frozenset[Thing] = frozenset()
    stays: frozenset[Thing] = frozenset()
    comes: frozenset[Thing] = frozenset()
    pushed: frozenset[Thing] = frozenset()
    pushers: frozenset[Thing] = frozenset()
    trails: frozenset[Thing] = frozenset()
    turns: frozenset[Thing] = frozenset()
    towers: int = 0
    piles: bool = False
    drift: Mapping[Thing, int] = field(default_factory=dict)

    @property
    def laid(self) -> frozenset[Thing]:
        """The things that come during a match and stay, of which there are none at first."""
        return self.stays & self.comes - self.first.keys()


def behaviour_of(
    layers: Sequence[Layer],
    states: Sequence[frozenset[Term]],
    columns: Sequence[Term],
    rows: Sequence[Term],
    blanks: frozenset[Thing],
) -> PieceBehaviour:
    """The behaviour of things in consecutive states. When the first state comes again, a new match begins."""
    seen = [places_of(layers, state, blanks) for state in states[:_MOST_STATES]]
    if not seen:
        return PieceBehaviour()
    counts = [Counter({thing: len(squares) for thing, squares in here.items()}) for here in seen]
    names = set[Thing]().union(*seen)
    place = {x: i for i, x in enumerate(columns)}, {y: j for j, y in enumerate(rows)}
    left_ones, comes, moves, strays = set[Thing](), set[Thing](), set[Thing](), set[Thing]()
    turns, grows = set[Thing](), True
    pushed: dict[Thing, set[Thing]] = defaultdict(set)
    drift = Counter[Thing]()
    stepped = False
    single = {thing for thing in names if max(count[thing] for count in counts) == 1}
    followed = zip(states, seen if len(names) <= _MOST_THINGS else (), strict=False)
    for (was, before), (now, after) in pairwise(followed):
        if now == states[0] or now == was:
            continue
        stepped = True
        came = {thing: after.get(thing, set()) - before.get(thing, set()) for thing in names}
        left = {thing: before.get(thing, set()) - after.get(thing, set()) for thing in names}
        alone = [
            (min(left[thing]), min(came[thing]), thing)
            for thing in names
            if len(left[thing]) == len(came[thing]) == 1
        ]
        moves |= {thing for _, _, thing in alone}
        drift.update({thing: place[0].get(b[1], 0) - place[0].get(a[1], 0) for a, b, thing in alone})
        left_ones |= {thing for thing in names if left[thing]}
        comes |= {thing for thing in names if came[thing]}
        full, rest = set[Square]().union(*before.values()), set[Square]().union(*after.values())
        turns |= {thing for thing in names if came[thing] & full}
        grows = grows and full <= rest
        walked = {square for a, b, thing in alone if thing in single for square in (a, b)}
        strays |= {thing for thing in names if came[thing] - walked}
        for _, to, pusher in alone:
            for start, end, thing in alone:
                if thing != pusher and start == to and _touch(start, end, place):
                    pushed[thing].add(pusher)
    return PieceBehaviour(
        first=counts[0],
        most={thing: max(count[thing] for count in counts) for thing in names},
        least={thing: min(count[thing] for count in counts) for thing in names},
        moves=frozenset(moves),
        stays=frozenset(names - left_ones if stepped else ()),
        comes=frozenset(comes),
        pushed=frozenset(pushed),
        pushers=frozenset().union(*pushed.values()),
        trails=frozenset(comes - strays - single),
        turns=frozenset(turns if grows else ()),
        towers=_towers(seen, states, columns) if len(layers) == 1 and layers[0].strip else 0,
        piles=all(_piled(here, place[1]) for here in seen),
        drift=drift,
    )


def _piled(here: _Squares, height: Mapping[Term, int]) -> bool:
    """See :attr:`PieceBehaviour.piles`."""
    piles: dict[tuple[object, Term, Thing], list[int]] = defaultdict(list)
    for thing, squares in here.items():
        for panel, x, y in squares:
            piles[panel, x, thing].append(height.get(y, -1))
    alone = len({pile[:2] for pile in piles}) == len(piles)
    return alone and all(sorted(pile) == list(range(len(pile))) for pile in piles.values())


def places_of(
    layers: Sequence[Layer], state: frozenset[Term], blanks: Collection[Thing] = ()
) -> dict[Thing, set[Square]]:
    """The squares on which each thing stands in a state; ``blanks`` are left out."""
    found: dict[Thing, set[Square]] = defaultdict(set)
    for square, thing in things_on(layers, state):
        if thing not in blanks:
            found[thing].add(square)
    return dict(found)


def _touch(a: Square, b: Square, place: tuple[dict[Term, int], dict[Term, int]]) -> bool:
    """Whether two squares of one board are neighbours in a row or column."""
    spots = [(place[0].get(x, -9), place[1].get(y, -9)) for _, x, y in (a, b)]
    return a[0] == b[0] and abs(spots[0][0] - spots[1][0]) + abs(spots[0][1] - spots[1][1]) == 1


def _towers(seen: Sequence[_Squares], states: Sequence[frozenset[Term]], columns: Sequence[Term]) -> int:
    """See :attr:`PieceBehaviour.towers`."""
    place = {x: i for i, x in enumerate(columns)}
    pegs = [
        {thing: sorted(place[x] for _, x, _ in squares) for thing, squares in here.items()} for here in seen
    ]
    steps = 0
    ways = {1, -1}
    for (was, before), (now, after) in pairwise(zip(states, pegs, strict=False)):
        if now == states[0] or now == was or before == after:
            continue
        gone = [(t, set(disks) - set(after.get(t, ()))) for t, disks in before.items()]
        came = [(t, set(disks) - set(before.get(t, ()))) for t, disks in after.items()]
        gone, came = [pair for pair in gone if pair[1]], [pair for pair in came if pair[1]]
        if len(gone) != 1 or len(came) != 1 or gone[0][1] != came[0][1] or len(gone[0][1]) != 1:
            return 0
        (disk,) = gone[0][1]
        ends = before[gone[0][0]], after[came[0][0]]
        ways = {way for way in ways if all(disk == disks[0 if way == 1 else -1] for disks in ends)}
        steps += 1
    return max(ways) if len(ways) == 1 and steps >= 6 and len(columns) >= 3 else 0
