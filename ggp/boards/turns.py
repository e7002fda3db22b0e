"""Whose turn it is: the proposition that says so, such as ``(control white)``, found in the rules of legal
moves.

>>> from ggp.game import Game
>>> machine = Game.load("tictactoe").machine("prover")
>>> turns = TurnFinder(machine.rules, machine.roles)
>>> turns.relation, turns.role(machine.initial_state().propositions)
('control', 0)
"""

from __future__ import annotations

from collections.abc import Iterable

from gdl.rules import Rule, Rules, literals
from gdl.terms import INIT, LEGAL, NEXT, TRUE, Term


class TurnFinder:
    """Finds whose turn it is in the states of one game.

    A relation tells the turn if its one argument is a role, one rule lets a role move while the relation
    holds of this role, and another rule lets a role move while it does not, or while it holds of another
    role.

    Attributes:
        relation: the relation's name; None where none is found.
    """

    def __init__(self, rules: Rules, roles: tuple[Term, ...]) -> None:
        self._roles = {role: number for number, role in enumerate(roles)}
        self.relation = _relation(rules, set(roles)) if len(roles) > 1 else None

    def role(self, propositions: Iterable[Term]) -> int | None:
        """The number of the role whose turn it is; None where the state says nothing, or names several."""
        if self.relation is None:
            return None
        named = {p.args[0] for p in propositions if p.name == self.relation and len(p.args) == 1}
        return self._roles.get(named.pop()) if len(named) == 1 else None

    def tells(self, proposition: Term) -> bool:
        """Whether a proposition is of the relation that tells the turn."""
        return proposition.signature == (self.relation, 1)


def _relation(rules: Rules, roles: set[Term]) -> str | None:
    own: dict[str, int] = {}
    other: set[str] = set()
    wrong: set[str] = set()
    for rule in rules:
        if rule.head.name in (INIT, NEXT) and len(rule.head.args) == 1:
            fact = rule.head.args[0]
            if len(fact.args) == 1 and not fact.args[0].is_variable and fact.args[0] not in roles:
                wrong.add(fact.name)
        elif rule.head.signature == (LEGAL, 2):
            _votes(rule, own, other)
    fitting = [name for name in own if name in other and name not in wrong]
    return max(fitting, key=lambda name: own[name], default=None)


def _votes(rule: Rule, own: dict[str, int], other: set[str]) -> None:
    """Count the relations of one argument that a rule for legal moves asks of its own role, and collect those
    that it asks of others or denies."""
    mover = rule.head.args[0]
    for literal, positive in (pair for part in rule.body for pair in literals(part)):
        atom = literal.atom
        if atom.name != TRUE or len(atom.args) != 1 or len(atom.args[0].args) != 1:
            continue
        fact = atom.args[0]
        if positive and fact.args[0] == mover:
            own[fact.name] = own.get(fact.name, 0) + 1
        else:
            other.add(fact.name)
