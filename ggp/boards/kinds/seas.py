"""Seas: one relation has a role's ships, another the squares of the other role's sea at which it has shot, as
in Battleships. The rules show which is which, without names; a hint may say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from gdl.rules import Rules, body_literals
from gdl.terms import DOES, NEXT, TRUE, Term
from ggp.boards.layers import Layer, LayerCandidate


def with_seas(chosen: list[LayerCandidate], rules: Rules, roles: Sequence[Term]) -> list[LayerCandidate]:
    """The layers of a board, with a sea for each role if they are ships and shots."""
    hints = {hint.words[0]: hint.look for hint in rules.hints if len(hint.words) == 1}
    whose = [candidate for candidate in chosen if {thing[-1] for thing in candidate.things} == set(roles)]
    if len(roles) != 2 or len(chosen) != 2 or len(whose) != 2 or not all(c.layer.split for c in chosen):
        return chosen
    for pair in permutations(chosen):
        ships, shots = (replace(c.layer, panel=c.layer.contents, named=True, split=False) for c in pair)
        if (hints.get(ships.name), hints.get(shots.name)) == ("ship", "shot") or _aims(rules, ships, shots):
            layers = ships, replace(shots, across=tuple(roles))
            return [replace(candidate, layer=layer) for candidate, layer in zip(pair, layers, strict=True)]
    return chosen


def _aims(rules: Rules, ships: Layer, shots: Layer) -> bool:
    """Whether a role's move makes its own shot at a square, and a rule asks if another role's ship is at the
    square of such a move."""
    makes = meets = False
    for rule in rules:
        atoms = [lit.atom for lit, positive in body_literals(rule) if positive]
        facts = [(False, atom.args[0]) for atom in atoms if atom.name == TRUE]
        facts += [(True, rule.head.args[0])] if rule.head.name == NEXT else []
        for role, move in (atom.args for atom in atoms if atom.signature == (DOES, 2)):
            for made, fact in facts:
                layer = shots if made else ships
                if layer.fits(fact) and {fact.args[layer.x], fact.args[layer.y]} <= set(move.args):
                    own = fact.args[layer.panel[0]] == role
                    makes, meets = makes or (made and own), meets or not (made or own)
    return makes and meets
