"""Absorption, subsumption, flattening and refactoring: below an input of a gate the other inputs are true.

Factoring is algebraic: take the literal that most product terms share out of them, and recurse
(R. Brayton: Factoring logic functions, 1987).
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from propnet.passes.circuit import FALSE, TRUE, Circuit, CircuitBuilder, readers_of, replaced

Product = tuple[int, ...]

DEEPEST = 40
"""The most literals that are taken out of one product, one after the other."""


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
    """Products, without those that a one-literal term absorbs and without its complement in the others."""
    true_literals = set(plain)
    denied = {literal ^ 1 for literal in plain}
    rest = [product for product in longer if true_literals.isdisjoint(product)]
    return [p if denied.isdisjoint(p) else tuple([x for x in p if x not in denied]) for p in rest]


def _pays(group: list[Product]) -> bool:
    """Whether taking one literal out of these products lowers the number of gate inputs."""
    return len(group) > 2 or any(len(p) == 2 for p in group)


_TREE_DEPTH = 40
"""Gates that are read once form trees; a tree is cut below this depth."""


def simplify(circuit: Circuit) -> Circuit:
    """Rewrite every tree of gates that are read once.

    In a gate ``x & f``, ``f`` is rewritten for a true ``x``, at any depth, as long as nothing else reads the
    gate that changes. Positive gates read once merge into their reader. Product terms that imply another
    product term of the same OR are dropped, and the remaining OR of products is factored again.
    """
    return _Simplifier(circuit).run()


class _Simplifier:
    """The circuit under construction. ``literal_of`` holds the new literal of each old root, ``assumed`` the
    new literals that hold whenever the current gate matters."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.first = circuit.shape.first_gate
        self.builder = CircuitBuilder(self.first)
        self.literal_of = [2 * node for node in range(self.first)] + [-1] * len(circuit.gates)
        self.is_root = self._roots()
        self.assumed: set[int] = set()

    def _roots(self) -> list[bool]:
        """Per node whether it is an input, a gate that is not read exactly once, or deep in its tree."""
        circuit, first = self.circuit, self.first
        root = [count != 1 for count in circuit.fanout()]
        root[:first] = [True] * first
        for x in circuit.outputs:
            root[x >> 1] = True
        depth = [0] * len(circuit.gates)
        for number in range(len(circuit.gates) - 1, -1, -1):
            if root[first + number]:
                depth[number] = 0
            elif depth[number] > _TREE_DEPTH:
                root[first + number] = True
                depth[number] = 0
            below = depth[number] + 1
            for x in circuit.gates[number]:
                if x >> 1 >= first:
                    depth[(x >> 1) - first] = below
        return root

    def run(self) -> Circuit:
        first = self.first
        for number in range(len(self.circuit.gates)):
            if self.is_root[first + number]:
                self.literal_of[first + number] = self.conjunction(self.circuit.gates[number])
        outputs = replaced(self.circuit.outputs, self.literal_of)
        return Circuit(self.circuit.shape, self.builder.gates, outputs)

    def conjunction(self, old_inputs: tuple[int, ...]) -> int:
        """The new literal of an AND of old literals, given that ``assumed`` holds."""
        fixed: list[int] = []
        trees: list[tuple[int, ...]] = []
        stack = list(old_inputs)
        while stack:
            x = stack.pop()
            node = x >> 1
            if self.is_root[node]:
                fixed.append(self.literal_of[node] ^ (x & 1))
            elif x & 1:
                trees.append(self.circuit.gates[node - self.first])
            else:
                stack.extend(self.circuit.gates[node - self.first])
        settled = self.settle(fixed)
        if settled is None:
            return FALSE
        literals, learnt = settled
        products = []
        for tree in trees:
            below = self.conjunction(tree)
            if below != FALSE:
                inputs = () if below & 1 else self.builder.inputs_of(below)
                products.append(inputs or (below,))
        self.assumed.difference_update(learnt)
        # Gates that others read as well remain gates, but may absorb, or be absorbed.
        shared = [x for x in literals if x & 1 and x >> 1 >= self.first]
        if len(products) + len(shared) > 1:
            literals = [x for x in literals if not x & 1 or x >> 1 < self.first]
            terms = list(dict.fromkeys(products))
            survivors = self.unsubsumed([*terms, *map(self.builder.inputs_of, shared)])
            products = [terms[i] for i in survivors if i < len(terms)]
            literals += [shared[i - len(terms)] for i in survivors if i >= len(terms)]
        if products:
            literals.append(sum_of_products(self.builder, products) ^ 1)
        return self.builder.conjunction(literals)

    def settle(self, literals: Iterable[int]) -> tuple[list[int], list[int]] | None:
        """The literals that remain of an AND given ``assumed``, and those that it adds to ``assumed`` (which
        the caller must remove again); None if the AND is false."""
        assumed = self.assumed
        learnt: list[int] = []
        remaining: list[int] = []
        negative: list[int] = []
        for x in sorted(set(literals), reverse=True):
            if x in assumed:
                continue
            if x & 1 and x >> 1 >= self.first:
                negative.append(x)
                continue
            if self.learn(x, learnt):
                remaining.append(x)
                continue
            assumed.difference_update(learnt)
            return None
        for x in negative:
            if x in assumed:
                continue
            inputs = self.builder.inputs_of(x)
            rest = [y for y in inputs if y not in assumed]
            if len(rest) == 1:
                x = rest[0] ^ 1
                if x in assumed:
                    continue
            elif not rest:
                assumed.difference_update(learnt)
                return None
            elif any(y ^ 1 in assumed for y in rest):
                continue
            if not self.learn(x, learnt):
                assumed.difference_update(learnt)
                return None
            remaining.append(x)
        return remaining, learnt

    def learn(self, literal: int, learnt: list[int]) -> bool:
        """Add a literal to ``assumed``; return False if that contradicts it."""
        if literal ^ 1 in self.assumed or literal == FALSE:
            return False
        if literal not in self.assumed:
            self.assumed.add(literal)
            learnt.append(literal)
        return True

    def unsubsumed(self, products: list[tuple[int, ...]]) -> list[int]:
        """The numbers of the product terms that contain no other term."""
        times: dict[int, int] = {}
        for product in products:
            for x in product:
                times[x] = times.get(x, 0) + 1
        # Each product is filed under its input with the fewest products.
        filed: dict[int, list[int]] = {}
        for number, product in enumerate(products):
            filed.setdefault(min(product, key=times.__getitem__), []).append(number)
        gone = [False] * len(products)
        for number, product in enumerate(products):
            inputs = set(product)
            candidates = [i for x in product if x in filed for i in filed[x]]
            gone[number] = any(
                i != number and not gone[i] and inputs.issuperset(products[i]) for i in candidates
            )
        return [number for number, absent in enumerate(gone) if not absent]
