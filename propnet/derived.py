"""A network whose only outputs are derived propositions: rules that note each in the next state are added to
those of the game, these are ground, and what decides the notes is built by itself.

Derived relations are those that the rules define by the state alone, not by moves: where a piece can go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gdl.errors import GdlError, TooLargeError
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.limits import GroundLimits
from gdl.grounding.pipeline import ground
from gdl.rules import Literal, Rule, Rules, Signature, body_literals
from gdl.terms import BASE, DISTINCT, DOES, GOAL, INIT, INPUT, LEGAL, NEXT, ROLE, TERMINAL, TRUE, Term
from propnet.build import BuildLimits, build
from propnet.network import Network
from propnet.storage import network_bytes
from propnet.storage.network_bytes import from_bytes, to_bytes

_NOT_DERIVED = {BASE, DISTINCT, DOES, GOAL, INIT, INPUT, LEGAL, NEXT, ROLE, TERMINAL, TRUE}
"""Relations of the language itself."""


def derived_relations(rules: Rules) -> list[Signature]:
    """The relations that depend on the state and not on moves, in alphabetical order."""
    asks: dict[Signature, set[Signature]] = defaultdict(set)
    for rule in rules:
        asks[rule.head.signature].update(literal.atom.signature for literal, _ in body_literals(rule))
    by_state, by_moves = _depending(asks, (TRUE, 1)), _depending(asks, (DOES, 2))
    return sorted(
        relation for relation in by_state - by_moves if relation in asks and relation[0] not in _NOT_DERIVED
    )


def _depending(asks: dict[Signature, set[Signature]], on: Signature) -> set[Signature]:
    """The relations that depend on one, at once or by others."""
    readers: dict[Signature, set[Signature]] = defaultdict(set)
    for head, asked in asks.items():
        for relation in asked:
            readers[relation].add(head)
    found, waiting = {on}, [on]
    while waiting:
        for reader in readers[waiting.pop()] - found:
            found.add(reader)
            waiting.append(reader)
    return found - {on}


LIMITS = GroundLimits(max_rules=2_000_000, max_atoms=1_000_000, memory_bytes=1 << 30, cpu_seconds=10.0)
_BUILD = BuildLimits(literals=2_000_000, seconds=3.0)
MOST = 4096
"""Derived propositions of a game."""
_KIND = f"derived {MOST}\n"
_NOTE = "derived proposition"
"""No name in rules has a space."""
_WATCHER = Term("watcher")


def derived_network(rules: Rules, bases: Sequence[Term], relations: Sequence[Signature]) -> Network | None:
    """The network of what some derived relations (:func:`propnet.derived.
    derived_relations`) say of states over these base propositions: the moves of its only role are the derived
    propositions, and what is legal is what holds.

    Relations that would make it more than :data:`MOST` propositions are left out, the last first. None where
    no proposition remains, where the game's states have other propositions than these, and where it would be
    too large."""
    noted = _with_notes(rules, relations)
    kept = _kept(noted)
    if kept is not None:
        return kept if kept.bases == tuple(bases) else None
    try:
        own = _only_notes(ground(noted, LIMITS), relations)
        if own is None or own.bases != tuple(bases):
            return None
        network = build(own, _BUILD, in_play=False)
    except TooLargeError:
        return None
    network_bytes.keep(noted, to_bytes(network), _KIND)
    return network


def kept_network(rules: Rules, bases: Sequence[Term], relations: Sequence[Signature]) -> Network | None:
    """What :func:`derived_network` has kept on disk when it was asked the same before; None where there is
    nothing."""
    kept = _kept(_with_notes(rules, relations))
    return kept if kept is not None and kept.bases == tuple(bases) else None


def _kept(noted: Rules) -> Network | None:
    """The network of the rules with the notes that is kept, and whole."""
    data = network_bytes.load(noted, _KIND)
    if data is not None:
        with suppress(GdlError):
            return from_bytes(data)
    return None


def _with_notes(rules: Rules, relations: Sequence[Signature]) -> Rules:
    """The rules, and one for each relation that notes what it says."""
    notes = []
    for number, (name, arity) in enumerate(relations):
        variables = tuple(Term(f"?{place}") for place in range(arity))
        head = Term(NEXT, Term(f"{_NOTE} {number}", *variables))
        notes.append(Rule(head, (Literal(Term(name, *variables)),)))
    return replace(rules, rules=(*rules.rules, *notes))


def _only_notes(noted: GroundRules, relations: Sequence[Signature]) -> GroundRules | None:
    """The rules of a game whose moves are the notes; None where there is none."""
    moves, all_bases = noted.move_count, len(noted.bases)
    of: list[list[int]] = [[] for _ in relations]
    kept = []
    for base, term in enumerate(noted.bases):
        if not term.name.startswith(_NOTE):
            kept.append(base)
        elif noted.next_atoms[base] >= 0:
            of[int(term.name[len(_NOTE) :])].append(base)
    chosen: list[int] = []
    for some in of:
        if len(chosen) + len(some) <= MOST:
            chosen += some
    if not chosen:
        return None
    chosen.sort()
    number = np.full(noted.atom_count, -1, np.int64)
    number[kept] = np.arange(len(kept))
    others = noted.atom_count - all_bases - moves
    first = len(kept) + len(chosen)
    number[all_bases + moves :] = first + np.arange(others)
    # What the notes rest on asks for no moves, and nothing asks for notes.
    lengths = np.diff(noted.body_start)
    rule_of = np.repeat(np.arange(len(noted.heads)), lengths)
    usable = np.ones(len(noted.heads), np.bool_)
    usable[rule_of[number[noted.bodies >> 1] < 0]] = False
    bodies = noted.bodies[usable[rule_of]]
    terms = []
    for base in chosen:
        name = relations[int(noted.bases[base].name[len(_NOTE) :])][0]
        terms.append(Term(name, *noted.bases[base].args))
    return GroundRules(
        roles=(_WATCHER,),
        bases=tuple(noted.bases[base] for base in kept),
        moves=(tuple(terms),),
        atom_count=first + others,
        heads=number[noted.heads[usable]].astype(np.int32),
        body_start=np.concatenate(([0], np.cumsum(lengths[usable]))).astype(np.int64),
        bodies=(2 * number[bodies >> 1] + (bodies & 1)).astype(np.int32),
        next_atoms=np.full(len(kept), -1, np.int32),
        legal_atoms=number[noted.next_atoms[chosen]].astype(np.int32),
        goal_atoms=(),
        terminal_atom=-1,
        initial=noted.initial[kept],
    )
