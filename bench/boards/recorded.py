"""Recorded matches as states of their games: no machine is built."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from itertools import islice

import orjson

from gdl.rules import Rules
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.game import read_rules_file
from ggp.traces.verify import Trace

_MOST_STATES = 300


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """Attributes:
    name, rules, roles: the game.
    states: of all matches, the first state of all first; at most some hundreds.
    first: the states of the first match.
    moves: for each state, each role's legal moves, as the trace has them.
    """

    name: str
    rules: Rules
    roles: tuple[Term, ...]
    states: tuple[frozenset[Term], ...]
    first: tuple[frozenset[Term], ...]
    moves: tuple[tuple[tuple[Term, ...], ...], ...]


def read_recorded(trace: Trace, most: int = _MOST_STATES) -> RecordedGame:
    """The game of a trace, and at most so many of its states."""
    rules = parse_rules(read_rules_file(trace.rules), trace.name)
    terms: dict[str, Term] = {}

    def read(text: str) -> Term:
        if text not in terms:
            terms[text] = parse_term(text)
        return terms[text]

    roles: tuple[Term, ...] = ()
    states: list[frozenset[Term]] = []
    first: list[frozenset[Term]] = []
    moves: list[tuple[tuple[Term, ...], ...]] = []
    opener = gzip.open if trace.trace.suffix == ".gz" else open
    with opener(trace.trace, "rb") as lines:
        for line in islice(lines, most + 2):
            fields = orjson.loads(line)
            if fields["type"] == "game":
                roles = tuple(map(read, fields["roles"]))
            elif fields["type"] == "step":
                states.append(frozenset(map(read, fields["state"])))
                if not fields["p"]:
                    first.append(states[-1])
                legal = fields["legal"]
                moves.append(tuple(tuple(map(read, options)) for options in legal.values()))
    return RecordedGame(trace.name, rules, roles, tuple(states), tuple(first), tuple(moves))


def renamed(term: Term, names: dict[str, str]) -> Term:
    """A term in the names of scrambled rules."""
    return Term(names.get(term.name, term.name), *(renamed(arg, names) for arg in term.args))
