"""A network whose only outputs are derived propositions.

For each of them a rule is added to those of the game that notes it in the next state. The rules are ground,
and the network has only the gates that the notes need.

Derived relations depend on the state alone and not on moves: for example, where a piece can go.
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
    """The relations that depend on one, directly or through others."""
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
"""The most derived propositions of a game."""
_KIND = f"derived {MOST}\n"
_NOTE = "derived proposition"
"""No name in rules has a space."""
_WATCHER = Term("watcher")


def derived_network(rules: Rules, bases: Sequence[Term], relations: Sequence[Signature]) -> Network | None:
    """The network that evaluates derived relations (:func:`propnet.derived.derived_relations`) in states over
    these base propositions. The moves of its only role are the derived propositions; a move is legal if its
    proposition holds.

    Relations that would make it more than :data:`MOST` propositions are left out, the last ones first. None
    if no proposition remains, if the game's states have other propositions than these, or if the network
    would be too large."""
    noted = _with_notes(rules, relations)
    cached = _cached(noted)
    if cached is not None:
        return cached if cached.bases == tuple(bases) else None
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
    """The network that :func:`derived_network` has cached on disk for the same arguments; None if there is no
    such network."""
    cached = _cached(_with_notes(rules, relations))
    return cached if cached is not None and cached.bases == tuple(bases) else None


def _cached(noted: Rules) -> Network | None:
    """The cached network of the rules with the notes; None if there is none, or it is damaged."""
    data = network_bytes.load(noted, _KIND)
    if data is not None:
        with suppress(GdlError):
            return from_bytes(data)
    return None


def _with_notes(rules: Rules, relations: Sequence[Signature]) -> Rules:
    """The rules, and one more for each relation that notes its propositions."""
    notes = []
    for number, (name, arity) in enumerate(relations):
        variables = tuple(Term(f"?{place}") for place in range(arity))
        head = Term(NEXT, Term(f"{_NOTE} {number}", *variables))
        notes.append(Rule(head, (Literal(Term(name, *variables)),)))
    return replace(rules, rules=(*rules.rules, *notes))


def _only_notes(noted: GroundRules, relations: Sequence[Signature]) -> GroundRules | None:
    """The rules of a game whose moves are the notes; None if there are no notes."""
    moves, all_bases = noted.move_count, len(noted.bases)
    of: list[list[int]] = [[] for _ in relations]
    own_bases = []
    for base, term in enumerate(noted.bases):
        if not term.name.startswith(_NOTE):
            own_bases.append(base)
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
    number[own_bases] = np.arange(len(own_bases))
    others = noted.atom_count - all_bases - moves
    first = len(own_bases) + len(chosen)
    number[all_bases + moves :] = first + np.arange(others)
    # The notes depend on no moves, and nothing depends on the notes.
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
        bases=tuple(noted.bases[base] for base in own_bases),
        moves=(tuple(terms),),
        atom_count=first + others,
        heads=number[noted.heads[usable]].astype(np.int32),
        body_start=np.concatenate(([0], np.cumsum(lengths[usable]))).astype(np.int64),
        bodies=(2 * number[bodies >> 1] + (bodies & 1)).astype(np.int32),
        next_atoms=np.full(len(own_bases), -1, np.int32),
        legal_atoms=number[noted.next_atoms[chosen]].astype(np.int32),
        goal_atoms=(),
        terminal_atom=-1,
        initial=noted.initial[own_bases],
    )
