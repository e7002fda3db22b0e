"""The distance of arguments of moves from arguments of propositions, by the variables that rules share among
them.

Names play no part: the place of ``?x`` in ``(does ?r (drop ?x))`` is one step from its place in ``(next (cell
?x ?y ?r))``. Relations defined by facts alone connect nothing: columns and rows often share a successor.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator

from gdl.rules import Rule, Rules, literals
from gdl.terms import BASE, DOES, INIT, INPUT, LEGAL, NEXT, TRUE, Term

ArgumentPlace = tuple[str, str, int, int]
"""The kind of an atom (``true``, ``does`` or empty for other relations), its name and arity, and the
argument's place."""
_STATE = (TRUE, NEXT, INIT, BASE)
_MOVES = (LEGAL, DOES, INPUT)


class Nearness:
    """The number of steps between arguments in some rules."""

    def __init__(self, rules: Rules) -> None:
        defined = {rule.head.signature for rule in rules if rule.body}
        self._beside: dict[ArgumentPlace, set[ArgumentPlace]] = defaultdict(set)
        for rule in rules:
            if not rule.body:
                continue
            where: dict[Term, set[ArgumentPlace]] = defaultdict(set)
            for kind, atom in _atoms(rule):
                if not kind and atom.signature not in defined:
                    continue
                for i, arg in enumerate(atom.args):
                    if arg.is_variable:
                        where[arg].add((kind, *atom.signature, i))
            for places in where.values():
                for place in places:
                    self._beside[place] |= places - {place}

    def steps(self, start: ArgumentPlace, most: int) -> dict[ArgumentPlace, int]:
        """The places that are at most ``most`` steps away, each with its number of steps."""
        found = {start: 0}
        waiting = deque([start])
        while waiting:
            at = waiting.popleft()
            if found[at] == most:
                continue
            for place in self._beside.get(at, ()):
                if place not in found:
                    found[place] = found[at] + 1
                    waiting.append(place)
        return found


def _atoms(rule: Rule) -> Iterator[tuple[str, Term]]:
    for atom in [rule.head, *(lit.atom for part in rule.body for lit, _ in literals(part))]:
        if atom.name in _STATE and len(atom.args) == 1:
            yield TRUE, atom.args[0]
        elif atom.name in _MOVES and len(atom.args) == 2:
            yield DOES, atom.args[1]
        else:
            yield "", atom
