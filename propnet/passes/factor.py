"""Algebraic factoring: take the literal that most product terms share out of them, recurse
(R. Brayton: Factoring logic functions, 1987)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from propnet.passes.circuit import FALSE, TRUE, CircuitBuilder, readers_of

Product = tuple[int, ...]

DEEPEST = 40
"""How many literals are taken out of one product, one after the other."""


def sum_of_products(builder: CircuitBuilder, products: list[Product], depth: int = 0) -> int:
    """Build the OR of some products, whose literals ascend without repetition, in factored form; return its
    literal. ``depth`` literals have been taken out of the products."""
    distinct = list(dict.fromkeys(products))
    if not distinct:
        return FALSE
    if len(distinct) == 1:
        return builder.conjunction(distinct[0])
    if not all(distinct):
        return TRUE
    plain = [p[0] for p in distinct if len(p) == 1]
    longer = [p for p in distinct if len(p) > 1]
    if plain and longer:
        longer = _absorb(plain, longer)
    builder.effort -= sum(map(len, longer))
    if len(longer) < 2 or depth == DEEPEST or builder.effort < 0:
        return builder.disjunction([*plain, *[builder.conjunction(p) for p in longer]])
    places = readers_of(longer)
    if not plain:
        shared = [literal for literal, numbers in places.items() if len(numbers) == len(longer)]
        if shared:
            out = set(shared)
            rest = [tuple([x for x in p if x not in out]) for p in longer]
            return builder.conjunction([*shared, sum_of_products(builder, rest, depth + 1)])
    heap = [(-len(numbers), literal) for literal, numbers in places.items() if len(numbers) > 1]
    if not heap:
        return builder.disjunction([*plain, *[builder.conjunction(p) for p in longer]])
    heapify(heap)
    alive = [True] * len(longer)
    count = {literal: len(numbers) for literal, numbers in places.items()}
    terms = plain
    while heap:
        size, literal = heappop(heap)
        if count[literal] != -size:
            if count[literal] > 1:
                heappush(heap, (-count[literal], literal))
            continue
        chosen = [number for number in places[literal] if alive[number]]
        group = [longer[number] for number in chosen]
        if not _pays(group):
            continue
        rest = []
        for number, product in zip(chosen, group, strict=True):
            alive[number] = False
            for x in product:
                count[x] -= 1
            rest.append(tuple([x for x in product if x != literal]))
        terms.append(builder.conjunction([literal, sum_of_products(builder, rest, depth + 1)]))
    terms.extend([builder.conjunction(p) for p, left in zip(longer, alive, strict=True) if left])
    return builder.disjunction(terms)


def _absorb(plain: list[int], longer: list[Product]) -> list[Product]:
    """Products less those that a one-literal term absorbs, and less its complement in them."""
    known = set(plain)
    denied = {literal ^ 1 for literal in plain}
    rest = [product for product in longer if known.isdisjoint(product)]
    return [p if denied.isdisjoint(p) else tuple([x for x in p if x not in denied]) for p in rest]


def _pays(group: list[Product]) -> bool:
    """Whether taking one literal out of these products lowers the number of gate inputs."""
    return len(group) > 2 or any(len(p) == 2 for p in group)
