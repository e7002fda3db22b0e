"""Rules as a graph in which neither names nor order can be seen.

Its nodes are names, variables, terms and formulas. Edges run from a rule to its head and the formulas of its
body, from formulas to their parts, from a term to its name and to its arguments by their places. Keywords,
and numbers that can become goal values, keep their names (:func:`gdl.scramble.scramble` leaves the same ones
alone): they are the colours that the nodes begin with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from gdl.errors import GdlError
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.scramble import KEYWORDS, goal_values
from gdl.terms import Term
from propnet.analysis.colours import ColourGraph, Colours

_NAME, _HEAD, _PART, _ARGUMENT = 0, 1, 2, 8
"""Kinds of edges; those to an argument have its place added."""
_RULE, _NOT, _AND, _OR, _TERM, _VARIABLE, _SYMBOL = range(1, 8)
"""Colours to begin with; those of kept names are hashes."""


MOST_NODES = 15_000
"""Longer rules get no fingerprint: the longest public game has a fifth of that."""


class FingerprintError(GdlError):
    """The canonical form of some rules is not found in the time that this may take."""


class RulesGraph:
    """The graph of some rules. Raises FingerprintError for rules that are too long.

    Attributes:
        names: the names that may be another game's, lower case; the first nodes, in this order.
        kept: the names that are the same in all games.
        graph: for colour refinement.
        colour: what the nodes look like at first, uint64, shape (nodes,).
        variables: of each rule its variables and their nodes.
    """

    def __init__(self, rules: Rules) -> None:
        self.kept = frozenset(KEYWORDS | goal_values(rules))
        self._nodes: dict[str, int] = {}
        self._terms: dict[Term, int] = {}
        occurring = dict.fromkeys(name for rule in rules for name in names_in(rule))
        self.names = [name for name in occurring if name not in self.kept and not name.startswith("?")]
        self._nodes = {name: node for node, name in enumerate(self.names)}
        self._colours: list[int] = [_SYMBOL] * len(self.names)
        self._source: list[int] = []
        self._target: list[int] = []
        self._kind: list[int] = []
        self.variables: list[dict[str, int]] = []
        for rule in rules:
            self.variables.append(self._add_rule(rule))
        self.colour: Colours = np.array(self._colours, np.uint64)
        self.graph = ColourGraph(
            len(self._colours), np.array(self._source), np.array(self._target), np.array(self._kind)
        )

    def _node(self, colour: int) -> int:
        if len(self._colours) >= MOST_NODES:
            raise FingerprintError(
                "the rules are too long to tell the game from others", remedy="it is played without knowledge"
            )
        self._colours.append(colour)
        return len(self._colours) - 1

    def _edge(self, source: int, target: int, kind: int) -> None:
        self._source.append(source)
        self._target.append(target)
        self._kind.append(kind)

    def _name(self, name: str) -> int:
        node = self._nodes.get(name)
        if node is None:
            digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
            node = self._nodes[name] = self._node(int.from_bytes(digest, "little"))
        return node

    def _add_rule(self, rule: Rule) -> dict[str, int]:
        variables: dict[str, int] = {}
        node = self._node(_RULE)
        self._edge(node, self._add_term(rule.head, variables), _HEAD)
        for part in rule.body:
            self._edge(node, self._add_formula(part, variables), _PART)
        return variables

    def _add_formula(self, formula: Formula, variables: dict[str, int]) -> int:
        if isinstance(formula, Literal):
            return self._add_term(formula.atom, variables)
        parts: Iterable[Formula] = (formula.formula,) if isinstance(formula, Not) else formula.parts
        node = self._node(_NOT if isinstance(formula, Not) else _AND if isinstance(formula, And) else _OR)
        for part in parts:
            self._edge(node, self._add_formula(part, variables), _PART)
        return node

    def _add_term(self, term: Term, variables: dict[str, int]) -> int:
        if term.name.startswith("?"):
            if term.name not in variables:
                variables[term.name] = self._node(_VARIABLE)
            return variables[term.name]
        if not term.args:
            return self._name(term.name)
        node = self._terms.get(term)
        if node is not None:
            return node
        node = self._node(_TERM)
        self._edge(node, self._name(term.name), _NAME)
        for place, argument in enumerate(term.args):
            self._edge(node, self._add_term(argument, variables), _ARGUMENT + place)
        if term.ground:
            self._terms[term] = node
        return node


def names_in(rule: Rule) -> Iterable[str]:
    """Every name in a rule, variables included, as often as it occurs."""
    waiting: list[Term | Formula] = [*reversed(rule.body), rule.head]
    while waiting:
        item = waiting.pop()
        match item:
            case Term():
                yield item.name
                waiting.extend(reversed(item.args))
            case Literal(atom):
                waiting.append(atom)
            case Not(inner):
                waiting.append(inner)
            case And(parts) | Or(parts):
                waiting.extend(reversed(parts))
