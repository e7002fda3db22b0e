"""The canonical form of rules up to renaming and order: colour refinement, then individualisation (B. McKay:
Practical graph isomorphism, 1981).

Rules are a graph in which neither names nor order can be seen. Its nodes are names, variables, terms and
formulas. Edges run from a rule to its head and the formulas of its body, from formulas to their parts, from a
term to its name and to its arguments by their places. Keywords, and numbers that can become goal values, keep
their names (:func:`gdl.scramble.scramble` keeps the same ones): they are the initial colours of the nodes.

Names that the rules distinguish are numbered by their colours. Of names that look alike each is tried in
turn, until all differ. The numbering with the smallest picture is taken. Numberings with equal pictures show
an automorphism; its images of tried names need no trial. Variables that still look alike in a rule are told
apart one by one.

The form is a text. Two games have the same text exactly if a renaming and a reordering of rules and of parts
of formulas lead from one to the other. The fingerprint is a checksum of it, so that a game never finds the
file of another one. If the search for the form takes too long, there is no fingerprint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.scramble import kept_names
from gdl.terms import Term
from propnet.symmetries.colours import ColourGraph, Colours, Individualisation, orbit

_NAME, _HEAD, _PART, _ARGUMENT = 0, 1, 2, 8
"""Kinds of edges; to that of an argument its place is added."""
_RULE, _NOT, _AND, _OR, _TERM, _VARIABLE, _SYMBOL = range(1, 8)
"""Initial colours; those of kept names are hashes."""


_MOST_NODES = 15_000
"""Longer rules get no fingerprint: the longest public game has a fifth of that."""


class FingerprintError(GdlError):
    """The canonical form of some rules is not found in the allowed time."""


class _RulesGraph:
    """The graph of some rules. Raises FingerprintError for rules that are too long.

    Attributes:
        names: the names that may be renamed, lower case, and their nodes.
        graph: for colour refinement.
        colour: the initial colours of the nodes, uint64, shape (nodes,).
        variables: for each rule its variables and their nodes.
    """

    def __init__(self, rules: Rules) -> None:
        self.names: dict[str, int] = {}
        self._kept = dict.fromkeys(kept_names(rules), -1)
        self._terms: dict[Term, int] = {}
        self._colours: list[int] = []
        self._edges: list[tuple[int, int, int]] = []
        self.variables = [self._add_rule(rule) for rule in rules]
        self.colour: Colours = np.array(self._colours, np.uint64)
        self.graph = ColourGraph(len(self._colours), *np.array(self._edges, np.int64).reshape(-1, 3).T)

    def _node(self, colour: int) -> int:
        if len(self._colours) >= _MOST_NODES:
            raise FingerprintError(
                "the rules are too long to identify the game", remedy="it is played without knowledge"
            )
        self._colours.append(colour)
        return len(self._colours) - 1

    def _edge(self, source: int, target: int, kind: int) -> None:
        self._edges.append((source, target, kind))

    def _name(self, name: str) -> int:
        if name not in self._kept:
            if name not in self.names:
                self.names[name] = self._node(_SYMBOL)
            return self.names[name]
        if self._kept[name] < 0:
            digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
            self._kept[name] = self._node(int.from_bytes(digest, "little"))
        return self._kept[name]

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


EFFORT = 3_000_000
"""Visits of edges and nodes by colour refinement (see docs/measurements.md)."""

_Permutation = NDArray[np.int64]


@dataclass(frozen=True)
class CanonicalNames:
    """The names of a game that all its scrambled copies have in common.

    Attributes:
        fingerprint: 64 hexadecimal digits, of this game and its scrambled copies alone.
        new: the canonical name of each name, ``#`` and a number; keywords are not in it.
    """

    fingerprint: str
    new: dict[str, str]

    def key(self, term: Term) -> str:
        """The text of a ground term in canonical names."""
        return _text_of_term(term, self.new)


def canonical_names(rules: Rules, effort: int = EFFORT) -> CanonicalNames:
    """The fingerprint of rules, and canonical names for theirs. Raises FingerprintError if that takes more
    than ``effort`` visits of edges, or if the rules are too long."""
    graph = _RulesGraph(rules)
    colour = _Canonizer(graph, effort).run()
    new = _numbered("#", graph.names, colour)
    texts = set()
    for rule, variables in zip(rules, graph.variables, strict=True):
        names = new | _numbered("?", variables, colour)
        parts = sorted(_text_of_formula(part, names) for part in rule.body)
        texts.add(" ".join([_text_of_term(rule.head, names), "<=", *parts]))
    fingerprint = hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()
    return CanonicalNames(fingerprint, new)


def _numbered(sign: str, nodes: dict[str, int], colour: Colours) -> dict[str, str]:
    """New names for some names, numbered by the colours of their nodes."""
    ranked = sorted(nodes, key=lambda name: int(colour[nodes[name]]))
    return {name: f"{sign}{number}" for number, name in enumerate(ranked)}


class _Canonizer:
    """Searches for the colours, all names different, whose picture is the smallest; all variables of a rule
    differ, too."""

    def __init__(self, graph: _RulesGraph, effort: int) -> None:
        self._graph = graph
        self._names = np.sort(np.fromiter(graph.names.values(), np.int64))
        self._nodes = Individualisation(graph.graph, self._names, effort)
        self._generators: list[_Permutation] = []
        self._seen: dict[bytes, Colours] = {}

    def run(self) -> Colours:
        colour = self._best(self._in_time(self._nodes.refined(self._graph.colour)), [])[1]
        while node := self._variable(colour):
            colour = self._individual(colour, node)
        return colour

    def _variable(self, colour: Colours) -> int:
        """A variable of the smallest colour that several variables of a rule have; 0 if they all differ."""
        found: dict[int, int] = {}
        for variables in self._graph.variables:
            seen: set[int] = set()
            for node in variables.values():
                look = int(colour[node])
                if look in seen:
                    found[look] = node
                seen.add(look)
        return found[min(found)] if found else 0

    def _best(self, colour: Colours, chosen: list[int]) -> tuple[bytes, Colours]:
        """The smallest picture below these colours, and its colours. ``chosen`` are the nodes chosen so
        far."""
        cell = self._nodes.cell(colour)
        if not cell:
            picture = np.sort(colour).tobytes()
            self._seen.setdefault(picture, colour)
            return picture, colour
        best = self._best(self._individual(colour, cell[0]), [*chosen, cell[0]])
        tried = [cell[0]]
        for node in cell[1:]:
            if node in self._images(tried, chosen):
                continue
            tried.append(node)
            below = self._individual(colour, node)
            # An automorphism maps a subtree that was seen onto this one.
            if not self._is_known(below):
                best = min(best, self._best(below, [*chosen, node]), key=lambda pair: pair[0])
        return best

    def _is_known(self, colour: Colours) -> bool:
        """Whether the first numbering below these colours has a picture that was seen before."""
        while cell := self._nodes.cell(colour):
            colour = self._individual(colour, cell[0])
        same_picture = self._seen.get(np.sort(colour).tobytes())
        if same_picture is None:
            return False
        names, image = self._names, np.arange(len(colour))
        image[names[np.argsort(same_picture[names])]] = names[np.argsort(colour[names])]
        self._generators.append(image)
        return True

    def _images(self, nodes: list[int], fixed: list[int]) -> set[int]:
        """The images of some nodes under the automorphisms found so far that leave ``fixed`` alone."""
        return orbit(nodes, [g for g in self._generators if all(g[node] == node for node in fixed)])

    def _individual(self, colour: Colours, node: int) -> Colours:
        return self._in_time(self._nodes.individual(colour, node))

    def _in_time(self, colour: Colours) -> Colours:
        """These colours. Raises FingerprintError if the effort is spent."""
        if self._nodes.effort < 0:
            raise FingerprintError(
                "too many names of these rules look alike to identify the game",
                remedy="it is played without knowledge",
            )
        return colour


def _text_of_formula(formula: Formula, names: dict[str, str]) -> str:
    match formula:
        case Literal(atom):
            return _text_of_term(atom, names)
        case Not(inner):
            return f"(not {_text_of_formula(inner, names)})"
        case And(parts) | Or(parts):
            word = "and" if isinstance(formula, And) else "or"
            return f"({' '.join([word, *sorted(_text_of_formula(part, names) for part in parts)])})"
    raise AssertionError(formula)


def _text_of_term(term: Term, names: dict[str, str]) -> str:
    name = names.get(term.name, term.name)
    if not term.args:
        return name
    return f"({name} {' '.join([_text_of_term(argument, names) for argument in term.args])})"
