"""Finds heaps that are made smaller, and rows of doors or numbers: games whose squares are amounts or names.

Heaps are found by structure. A relation has one amount for each heap in every state, and no amount ever
rises. A rule says that a move names the heap and the amount: the one taken, ``(take a 2)``, or the one left,
``(reduce a 1)``. Names play no part. A row needs a hint: ``; draw: board as doors``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gdl.rules import Rules, body_literals
from gdl.terms import DOES, NEXT, TRUE, Term
from ggp.boards.layers import MOST_SIDE, Layer, Square
from ggp.boards.statics import CoordinateOrder

_MOST_HEAPS = 12
_MOST_PLACES = 100
Signature = tuple[str, int]


@dataclass(frozen=True)
class Heaps:
    """The heaps of a game.

    Attributes:
        layer: amounts as columns, heaps as rows.
        amounts: each amount as a number.
        moves: for each kind of move the places of heap and amount, and whether the amount is what is left.
        sizes: the most that lies on each heap.
    """

    layer: Layer
    amounts: Mapping[Term, int]
    moves: Mapping[Signature, tuple[int, int, bool]]
    sizes: Mapping[Term, int]

    def lying(self, proposition: Term) -> Iterator[Square]:
        """The squares of the sticks that lie on a heap."""
        size = self.amounts.get(proposition.args[1], 0)
        for amount, number in self.amounts.items():
            if 0 < number <= size:
                yield (), amount, proposition.args[0]

    def first_taken(self, move: Term, state: Sequence[Term]) -> tuple[Term, int] | None:
        """The heap from which a move takes, and the number of sticks that it leaves there."""
        if move.signature not in self.moves:
            return None
        at, much, leaves = self.moves[move.signature]
        heap, amount = move.args[at], self.amounts.get(move.args[much])
        size = [self.amounts.get(p.args[1], 0) for p in state if self.layer.fits(p) and p.args[0] == heap]
        if amount is None or len(size) != 1:
            return None
        left = amount if leaves else size[0] - amount
        return (heap, left) if 0 <= left < size[0] else None


def heaps_of(
    rules: Rules, roles: Sequence[Term], states: Sequence[frozenset[Term]], order: CoordinateOrder
) -> Heaps | None:
    """The heaps of a game, given some of its states, the initial one first; None if it has none."""
    found: dict[str, dict[Signature, tuple[int, int, bool]]] = {}
    for rule in rules:
        head = rule.head.args[0] if rule.head.signature == (NEXT, 1) else None
        if head is None or len(head.args) != 2 or not all(arg.is_variable for arg in head.args):
            continue
        atoms = [literal.atom for literal, positive in body_literals(rule) if positive]
        were = [a.args[0] for a in atoms if a.name == TRUE and a.args[0].signature == head.signature]
        other = any(was.args[0] == head.args[0] and was.args[1] != head.args[1] for was in were)
        for move in (atom.args[1] for atom in atoms if atom.signature == (DOES, 2)):
            if len(move.args) == 2 and head.args[0] in move.args and move.args[0] != move.args[1]:
                at = move.args.index(head.args[0])
                leaves = head.args[1] == move.args[1 - at]
                if leaves or other:
                    found.setdefault(head.name, {})[move.signature] = (at, 1 - at, leaves)
    for name, moves in sorted(found.items()):
        seen = [{p.args[0]: p.args[1] for p in state if p.signature == (name, 2)} for state in states]
        heaps = seen[0].keys()
        amounts = order.filled(order.sort(set[Term]().union(*(each.values() for each in seen))))
        decimal = all(term.name.isdecimal() for term in amounts)
        number = {term: int(term.name[:9]) if decimal else i for i, term in enumerate(amounts)}
        if (
            1 < len(heaps) <= _MOST_HEAPS
            and not heaps & set(roles)
            and all(each.keys() == heaps for each in seen)
            and order.sure(set(amounts))
            and min(number.values()) == 0 < max(number.values()) <= MOST_SIDE
            and all(
                b == seen[0] or all(number[b[h]] <= number[a[h]] for h in heaps) for a, b in pairwise(seen)
            )
            and any(each != seen[0] for each in seen)
        ):
            sizes = {heap: max(number[each[heap]] for each in seen) for heap in heaps}
            return Heaps(Layer(name, 2, 1, 0), number, moves, sizes)
    return None


def row_layers(rules: Rules, groups: Mapping[Signature, set[Term]]) -> tuple[list[Layer], set[Term]]:
    """The relations of one argument with a hint for a picture, as layers, and the arguments: squares of a
    row."""
    named = {hint.words[0] for hint in rules.hints if hint.every and hint.look not in ("hidden", "note")}
    found = [signature for signature in sorted(groups) if signature[1] == 1 and signature[0] in named]
    places = {term.args[0] for signature in found for term in groups[signature]}
    fits = 1 < len(places) <= _MOST_PLACES and not any(term.args for term in places)
    return ([Layer(name, 1, 0, -1, named=True) for name, _ in found], places) if fits else ([], set())
