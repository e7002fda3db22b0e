"""Seas: boards of two roles whose one relation has a role's ships, and the other the squares of the other
role's sea at which it has shot, as in Battleships. Names play no part; a hint may say which is which."""

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
    if len(roles) != 2 or len(chosen) != 2 or not all(_of_roles(c, set(roles)) for c in chosen):
        return chosen
    for ships, shots in permutations(chosen):
        said = hints.get(ships.layer.name) == "ship" and hints.get(shots.layer.name) == "shot"
        if said or _aims(rules, ships.layer, shots.layer):
            return [_sea(ships), _sea(shots, tuple(roles))]
    return chosen


def _of_roles(candidate: LayerCandidate, roles: set[Term]) -> bool:
    """Whether a layer's things are the roles alone."""
    layer = candidate.layer
    plain = not layer.panel and not layer.strip and layer.x != layer.y
    return plain and len(layer.contents) == 1 and {thing[-1] for thing in candidate.things} == roles


def _sea(candidate: LayerCandidate, across: tuple[Term, ...] = ()) -> LayerCandidate:
    layer = candidate.layer
    sea = replace(layer, panel=layer.contents, named=True, split=False, across=across)
    return replace(candidate, layer=sea)


def _aims(rules: Rules, ships: Layer, shots: Layer) -> bool:
    """Whether a role's move makes its own fact of the one layer, and a rule compares its square with another
    role's fact of the other layer."""
    makes = meets = False
    for rule in rules:
        atoms = [lit.atom for lit, positive in body_literals(rule) if positive]
        facts = [atom.args[0] for atom in atoms if atom.name == TRUE]
        made = [rule.head.args[0]] if rule.head.name == NEXT else []
        for role, move in (atom.args for atom in atoms if atom.signature == (DOES, 2)):
            makes |= any(_at(fact, shots, move) and fact.args[shots.contents[0]] == role for fact in made)
            meets |= any(_at(fact, ships, move) and fact.args[ships.contents[0]] != role for fact in facts)
    return makes and meets


def _at(fact: Term, layer: Layer, move: Term) -> bool:
    """Whether a fact of a layer is about the square that a move names."""
    return layer.fits(fact) and {fact.args[layer.x], fact.args[layer.y]} <= set(move.args)
