"""A plain evaluator of ground rules."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from gdl.compile.stratify import components
from gdl.grounding.ground_rules import GroundRules


class GroundEvaluator:
    """Evaluates ground rules component by component in plain Python, for as many assignments at once as words
    have bits."""

    def __init__(self, ground: GroundRules) -> None:
        self.ground = ground
        bodies = ground.bodies.tolist()
        starts = ground.body_start.tolist()
        self.rules: dict[int, list[list[int]]] = defaultdict(list)
        reads: list[set[int]] = [set() for _ in range(ground.atom_count)]
        for i, head in enumerate(ground.heads.tolist()):
            body = bodies[starts[i] : starts[i + 1]]
            self.rules[head].append(body)
            reads[head].update(x >> 1 for x in body)
        self.order: list[tuple[list[int], bool]] = []
        for component in components([sorted(r) for r in reads]):
            members = set(component)
            for a in component:
                assert not any(x & 1 and x >> 1 in members for body in self.rules[a] for x in body)
            self.order.append((component, any(members & reads[a] for a in component)))

    def evaluate(self, inputs: list[int], full: int = 1) -> list[int]:
        """The word of every atom, given those of the base propositions and moves; ``full`` is true in all."""
        value = [*inputs, *[0] * (self.ground.atom_count - len(inputs))]
        for component, recursive in self.order:
            changed = True
            while changed:
                changed = False
                for atom in component:
                    before = value[atom]
                    for body in self.rules[atom] if before != full else ():
                        word = full
                        for x in body:
                            word &= value[x >> 1] ^ (full if x & 1 else 0)
                        value[atom] |= word
                    changed |= recursive and value[atom] != before
        return value

    def answers(self, inputs: set[int]) -> dict[str, Any]:
        """What the rules say about a state and the moves made in it."""
        ground = self.ground
        value = self.evaluate([int(atom in inputs) for atom in range(len(ground.bases) + ground.move_count)])
        return {
            "next": {i for i, a in enumerate(ground.next_atoms.tolist()) if a >= 0 and value[a]},
            "legal": {i for i, a in enumerate(ground.legal_atoms.tolist()) if value[a]},
            "goal": {(r, v) for r, v, a in ground.goal_atoms if value[a]},
            "terminal": ground.terminal_atom >= 0 and bool(value[ground.terminal_atom]),
        }
