"""Asks for which values of their variables some conditions hold in a state, by the rules of the game.

>>> from gdl.rules import Literal
>>> from gdl.syntax.parser import parse_rules, parse_term
>>> rules = parse_rules("(role r) (init (at 1)) (after 1 2) (<= (near ?y) (true (at ?x)) (after ?x ?y))")
>>> questions = Questions(rules, [[Literal(parse_term("(near ?where)"))]])
>>> questions.answers([parse_term("(at 1)")])
[[{Term<?where>: Term<2>}]]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from gdl.errors import GdlError
from gdl.machine import State
from gdl.prover.limits import ProverLimits
from gdl.prover.machine import ProverMachine
from gdl.rules import Formula, Rule, Rules, literals, subterms
from gdl.terms import NEXT, Term, sort_key

_LIMITS = ProverLimits(rows=500_000, seconds=5.0)
Answer = dict[Term, Term]
"""A value for each variable."""


class Questions:
    """Some conditions that can be asked about states of one game.

    Args:
        bodies: the questions; each is a body of a rule.
    """

    def __init__(self, rules: Rules, bodies: Sequence[Sequence[Formula]]) -> None:
        self._rules, self._bodies = rules, bodies
        self._heads: list[Term] = []
        self._failed = not bodies

    @cached_property
    def machine(self) -> ProverMachine:
        """A machine of the game, whose successors have propositions about their predecessors in addition.
        Raises GdlError: the rules are hostile."""
        rules, added = self._rules, list[Rule]()
        self._heads.clear()
        names = {part.name for rule in rules for part in (rule.head, *subterms(rule.head))}
        prefix = "because"
        while any(name.startswith(prefix) for name in names):
            prefix += "_"
        for number, body in enumerate(self._bodies):
            atoms = (one.atom for part in body for one, _ in literals(part))
            variables = dict.fromkeys(v for atom in atoms for v in atom.variables())
            self._heads.append(Term(f"{prefix}{number}", *variables))
            added.append(Rule(Term(NEXT, self._heads[-1]), tuple(body)))
        # The successor of a state without moves has the answers: no rule depends on ``next``.
        return ProverMachine(replace(rules, rules=(*rules.rules, *added)), _LIMITS)

    def answers(self, state: State | Iterable[Term]) -> list[list[Answer]]:
        """For each question the values for which it holds in a state, in order. All are empty once the rules
        have turned out to be hostile, or to exceed the limits.

        Args:
            state: of this :attr:`machine`, or its true propositions.
        """
        found: list[list[Answer]] = [[] for _ in self._bodies]
        if self._failed:
            return found
        try:
            machine = self.machine
            now = state if isinstance(state, State) else machine.state_of(state)
            after = machine.next_state(now, ()).propositions
        except GdlError:
            self._failed = True
            return found
        numbers = {head.name: number for number, head in enumerate(self._heads)}
        for fact in sorted((fact for fact in after if fact.name in numbers), key=sort_key):
            number = numbers[fact.name]
            found[number].append(dict(zip(self._heads[number].args, fact.args, strict=True)))
        return found
