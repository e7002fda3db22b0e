"""A plain evaluator of ground rules, to compare the grounder with the oracle."""

from __future__ import annotations

from collections import defaultdict

from gdl.ground_rules import GroundRules
from gdl.stratify import components


class GroundEvaluator:
    """Evaluates ground rules state by state, component by component, in plain Python."""

    def __init__(self, ground: GroundRules) -> None:
        self.ground = ground
        bodies = ground.bodies.tolist()
        starts = ground.body_start.tolist()
        rules: dict[int, list[list[int]]] = defaultdict(list)
        reads: list[set[int]] = [set() for _ in range(ground.atom_count)]
        for i, head in enumerate(ground.heads.tolist()):
            body = bodies[starts[i] : starts[i + 1]]
            rules[head].append(body)
            reads[head].update(x >> 1 for x in body)
        self.order: list[tuple[list[int], bool]] = []
        for component in components([sorted(r) for r in reads]):
            members = set(component)
            recursive = any(members & reads[a] for a in component)
            for a in component:
                for body in rules[a]:
                    assert not any(x & 1 and x >> 1 in members for x in body), "negative cycle"
            self.order.append((component, recursive))
        self.rules = rules

    def evaluate(self, inputs: set[int]) -> list[int]:
        """The truth of every atom, 0 or 1, given the true base propositions and moves."""
        value = [0] * self.ground.atom_count
        for atom in inputs:
            value[atom] = 1
        for component, recursive in self.order:
            changed = True
            while changed:
                changed = False
                for atom in component:
                    if value[atom]:
                        continue
                    for body in self.rules[atom]:
                        if all(value[x >> 1] != x & 1 for x in body):
                            value[atom] = 1
                            changed = recursive
                            break
        return value
