"""Derived propositions are what the prover derives; values by them are those of plain numpy, in scrambled
copies too, and training learns them."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gdl.errors import GdlError
from gdl.grounding.limits import GroundLimits
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules
from gdl.terms import Term
from ggp.game import Game
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.derived_propositions import DerivedPropositions, derived_of, find_derived
from players.knowledge.features import DERIVED, Features
from players.knowledge.knowledge import GameKnowledge, KnowledgeError
from players.knowledge.state_values import features_of, values_by
from players.knowledge.training import Training
from players.uct.training.searched_play import PlayTerms
from players.uct.training.searched_training import SearchedTraining
from propnet import derived as networks
from propnet.derived import derived_relations
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.recoding.samples import sample_states

GAMES = "amazons", "checkers", "chess", "connectfour", "ninemensmorris", "othello"


def _machine(game: str | Rules) -> PropnetMachine:
    from gdl.grounding.pipeline import ground
    from propnet.build import build

    rules = Game.load(game).rules if isinstance(game, str) else game
    return PropnetMachine(rules, build(ground(rules)))


def _found(machine: PropnetMachine) -> DerivedPropositions:
    found = find_derived(machine, canonical_names(machine.rules))
    assert found is not None
    return found


def _holding(machine: PropnetMachine, derived: DerivedPropositions, state: State) -> set[Term]:
    """Which derived propositions hold, by the bits of the long record."""
    long = derived.long(machine.records([state]))
    bits = unpack(long, 64 * derived.words)[0]
    said = {derived.propositions[bit] for bit in np.flatnonzero(bits)}
    assert None not in said
    return {term for term in said if term is not None} & set(derived.terms)


def _walk(machine: Machine, seed: int) -> list[tuple[State, tuple[int, ...]]]:
    """A random match: states, and the joint moves made in them."""
    rng, state, seen = random.Random(seed), machine.initial_state(), []
    while not machine.is_terminal(state) and len(seen) < 60:
        joint = tuple(rng.choice(machine.legal_moves(state, role)) for role in range(len(machine.roles)))
        seen.append((state, joint))
        state = machine.next_state(state, joint)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_what_holds_is_what_the_prover_derives(game: str) -> None:
    machine = _machine(game)
    derived = _found(machine)
    relations = derived_relations(machine.rules)
    prover = ProverMachine(networks._with_notes(machine.rules, relations))
    kept = {term.signature for term in derived.terms}
    for seed in range(2):
        for state, joint in _walk(machine, seed):
            true = machine.true_propositions(state.key)
            proven = prover.state_of(true)
            moves = [prover.move_id(role, machine.move(role, index)) for role, index in enumerate(joint)]
            after = prover.true_propositions(prover.next_state(proven, moves).key)
            told = {
                Term(relations[int(term.name[len(networks._NOTE) :])][0], *term.args)
                for term in after
                if term.name.startswith(networks._NOTE)
            }
            assert _holding(machine, derived, state) == {term for term in told if term.signature in kept}


def test_what_base_propositions_say_alone_is_left_out() -> None:
    machine = _machine("breakthrough")
    assert ("empty", 2) in derived_relations(machine.rules) and find_derived(
        machine, canonical_names(machine.rules)
    ) is None
    # What says that a match is over says nothing of the states that are valued.
    assert {term.name for term in _found(_machine("connectfour")).terms} == {"lands"}


def test_rules_that_would_take_too_long_derive_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    machine = _machine("checkers")
    monkeypatch.setattr(networks, "LIMITS", GroundLimits(max_rules=100))
    assert find_derived(machine, canonical_names(machine.rules)) is None
    with pytest.raises(GdlError, match="derive nothing of use"):
        Training(machine, canonical_names(machine.rules), None, 0, "derived")


def _trained(game: str, columns: int = 1) -> tuple[PropnetMachine, GameKnowledge]:
    """Knowledge with random weights."""
    machine = _machine(game)
    names = canonical_names(machine.rules)
    training = Training(machine, names, None, 0, "derived")
    rng = np.random.default_rng(7)
    training.weights[:] = rng.normal(0.0, 0.1, training.weights.shape)
    known = training.knowledge(game)
    assert known.model == "derived" and len(known.columns) == columns
    return machine, GameKnowledge.from_bytes(known.to_bytes())


@pytest.mark.parametrize(("game", "columns"), [("checkers", 1), ("connectfour", 1), ("chinesecheckers", 3)])
def test_values_are_those_of_plain_numpy(game: str, columns: int) -> None:
    machine, known = _trained(game, columns)
    names = canonical_names(machine.rules)
    derived = derived_of(machine, names, known.derived)
    records = sample_states(machine, 700, 1)
    found = values_by(known, names, machine).columns_of(records)
    place = {name: row for row, name in enumerate(known.features)}
    features = Features.of(derived.propositions, names, len(machine.network.bases))
    long = unpack(derived.long(records), 64 * derived.words)
    logits = np.zeros((len(records), columns)) + known.weights[place["1"]]
    for bit in range(len(derived.propositions)):
        for feature in features.feature[features.start[bit] : features.start[bit + 1]]:
            logits += np.outer(long[:, bit], known.weights[place[features.names[feature]]])
    assert any(name.startswith(DERIVED) for name in known.features)
    assert np.allclose(found, 1 / (1 + np.exp(-logits)), atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["checkers", "othello"])
def test_scrambled_copies_have_the_same_values(game: str) -> None:
    machine, known = _trained(game)
    copy, _ = scramble(machine.rules, 5)
    other = _machine(copy)
    values = values_by(known, canonical_names(machine.rules), machine)
    again = values_by(known, canonical_names(copy), other)
    first, second = machine.initial_state(), other.initial_state()
    rng = random.Random(3)
    for _ in range(12):
        joint = [rng.choice(machine.legal_moves(first, role)) for role in range(2)]
        # Moves of the copy stand in another order: the one with the same successor's value is taken.
        first = machine.next_state(first, joint)
        wanted = values.of(machine.records([first]))
        options = [
            other.next_state(second, (a, b))
            for a in other.legal_moves(second, 0)
            for b in other.legal_moves(second, 1)
        ]
        worth = again.of(other.records(options))
        nearest = int(np.abs(worth - wanted).sum(axis=1).argmin())
        assert np.allclose(worth[nearest], wanted, atol=1e-5)
        second = options[nearest]


def test_knowledge_of_other_relations_is_refused() -> None:
    machine, known = _trained("checkers")
    names = canonical_names(machine.rules)
    for wrong in (("#0/9",), (*known.derived, "nothing/1")):
        with pytest.raises(KnowledgeError, match="other relations"):
            values_by(replace(known, derived=wrong), names, machine)


@pytest.mark.parametrize("wrong", [("no arity",), ("#1/x",), ("\n/1",), ("#1/1",) * 1001, (3,)])
def test_damaged_names_of_relations_are_refused(wrong: tuple[str, ...]) -> None:
    _, known = _trained("connectfour")
    with pytest.raises(KnowledgeError):
        GameKnowledge.from_bytes(replace(known, derived=wrong).to_bytes())


@pytest.mark.slow
def test_they_travel_to_other_processes() -> None:
    machine = _machine("othello")
    derived = _found(machine)
    again = pickle.loads(pickle.dumps(derived))
    records = sample_states(machine, 100, 0)
    assert np.array_equal(again.long(records), derived.long(records))
    assert again.propositions == derived.propositions and again.relations == derived.relations


@pytest.mark.parametrize("model", ["derived", "net"])
def test_training_by_searches_learns_with_them_in_several_processes(model: str) -> None:
    machine = _machine("connectfour")
    names = canonical_names(machine.rules)
    greedy = Training(machine, names, None, 0, "derived")
    for _ in range(3):
        greedy.round()
    training = SearchedTraining(
        machine, names, greedy.knowledge("c"), 0, model, workers=2, terms=PlayTerms(lanes=16, visits=8)
    )
    try:
        for number in range(8):
            training.round(number / 8)
        known = training.knowledge("connectfour")
    finally:
        training.close()
    assert known.model == model and known.derived == greedy.knowledge("c").derived
    records = sample_states(machine, 50, 0)
    kept = GameKnowledge.from_bytes(known.to_bytes())
    assert np.allclose(values_by(kept, names, machine).of(records), training.values.of(records))
    told = known.weights[[name.startswith(DERIVED) for name in known.features]]
    assert (told != 0).any()


def test_features_count_derived_propositions_and_not_base_ones_of_the_same_form() -> None:
    names = canonical_names(parse_rules("(role a)", "rules"))
    terms = [Term("p", Term(str(number))) for number in range(3)]
    features = Features.of((*terms, None, *terms), names, 4)
    assert "(p *)" in features.names and f"{DERIVED}(p *)" in features.names
    weights = np.zeros((len(features.names), 1), np.float32)
    weights[features.names.index(f"{DERIVED}(p *)")] = 1.0
    assert features.weights_of_bases(weights)[:, 0].tolist() == [0, 0, 0, 0, 1, 1, 1]


@pytest.mark.slow
def test_features_are_learnt_on_a_scale_on_which_their_mean_square_is_one() -> None:
    machine = _machine("othello")
    names, derived = canonical_names(machine.rules), _found(machine)
    features = features_of(machine, names, derived)
    sample = unpack(derived.long(sample_states(machine, 500, 2)), features.bits)
    scale = features.scale(sample)
    of_bit = np.repeat(np.arange(features.bits), np.diff(features.start))
    some = 0
    for number, name in enumerate(features.names):
        counts = sample[:, of_bit[features.feature == number]].sum(axis=1)
        square = float(((counts * scale[number]) ** 2).mean())
        if not name.startswith(DERIVED):
            assert scale[number] == 1.0
        elif (counts**2).mean() > 1.0:
            assert square == pytest.approx(1.0, rel=1e-3)
            some += 1
    assert some > 2
