"""What is kept comes back whole, for the game and its scrambled copies alone, known by their fingerprint."""

from __future__ import annotations

import json
import random
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from ggp.rule_files import installed_games
from players.knowledge import store as stores
from players.knowledge.canonical_rules import CanonicalNames, FingerprintError, canonical_names
from players.knowledge.knowledge import MAGIC, MOST_BYTES, GameKnowledge, KnowledgeError, LearntNet, Record
from players.knowledge.store import KnowledgeStore, bundled_files, bundled_name, find, read_file
from tests.examples import examples


def _knowledge(fingerprint: str = "0" * 64) -> GameKnowledge:
    arrays = np.arange(18, dtype=np.float32).reshape(3, 3, 2)
    names = ("#1", "#2"), ("1", "(#3 * #4)", "#5")
    return GameKnowledge(fingerprint, "kalah", *names, *arrays, 0.5, 7, 1.25, Record(3, 1, 2, 0.1))


def _same(first: GameKnowledge, second: GameKnowledge) -> bool:
    return first.to_bytes() == second.to_bytes()


def test_knowledge_says_whether_searches_look_at_all_moves() -> None:
    known = _knowledge()
    assert not GameKnowledge.from_bytes(known.to_bytes()).looks
    data = replace(known, looks=True).to_bytes()
    assert GameKnowledge.from_bytes(data).looks
    # Files of before do not say.
    older = _rewritten(data, b', "looks": true, "net_used": true', b"")
    assert not GameKnowledge.from_bytes(older).looks
    with pytest.raises(KnowledgeError, match=r"its header\.looks is not"):
        GameKnowledge.from_bytes(_rewritten(data, b'"looks": true', b'"looks": "x"'))


def _rewritten(data: bytes, old: bytes, new: bytes) -> bytes:
    """A file with another header, sealed again."""
    begin = len(MAGIC) + 4
    length = int.from_bytes(data[len(MAGIC) : begin], "little")
    header = data[begin : begin + length]
    assert old in header
    header = header.replace(old, new)
    body = data[: len(MAGIC)] + len(header).to_bytes(4, "little") + header + data[begin + length : -32]
    return _sealed(body)


def test_bytes_lead_back_to_what_they_were_made_of() -> None:
    known = _knowledge()
    again = GameKnowledge.from_bytes(known.to_bytes())
    assert again.features == known.features and again.columns == known.columns
    assert again.record == known.record and again.share == 0.5
    assert all(np.array_equal(a, b) for a, b in zip(again.arrays(), known.arrays(), strict=True))


@examples(200)
@given(place=st.integers(0), bit=st.integers(0, 7))
def test_a_changed_bit_is_noticed(place: int, bit: int) -> None:
    data = bytearray(_knowledge().to_bytes())
    data[place % len(data)] ^= 1 << bit
    with pytest.raises(KnowledgeError):
        GameKnowledge.from_bytes(bytes(data))


@examples(100)
@given(st.binary(max_size=400))
def test_junk_is_refused(junk: bytes) -> None:
    for data in (junk, MAGIC + junk, _sealed(MAGIC + junk)):
        with pytest.raises(KnowledgeError):
            GameKnowledge.from_bytes(data)


def _sealed(data: bytes) -> bytes:
    import hashlib

    return data + hashlib.sha256(data).digest()


@pytest.mark.parametrize(
    "changes",
    [
        {"fingerprint": "../../etc/passwd"},
        {"features": 1 << 40},
        {"features": -1},
        {"features": True},
        {"names": 10**9},
        {"columns": []},
        {"columns": ["#1", "#1"]},
        {"columns": ["a\nb", "#1"]},
        {"columns": 3},
        {"share": 2.0},
        {"share": float("nan")},
        {"share": "1"},
        {"record": [1, 2]},
        {"record": [1, 2, 3, 1e300]},
        {"game": "x\x1b[2J"},
        {"game": None},
        {"moves": -1},
        {"share": 10**400},
        {"derived": ["#12/3"]},
    ],
)
def test_a_whole_file_with_a_hostile_header_is_refused(changes: dict[str, object]) -> None:
    data = _knowledge().to_bytes()[:-32]
    length = int.from_bytes(data[8:12], "little")
    header = json.loads(data[12 : 12 + length])
    text = json.dumps(header | changes).encode()
    changed = MAGIC + len(text).to_bytes(4, "little") + text + data[12 + length :]
    with pytest.raises(KnowledgeError):
        GameKnowledge.from_bytes(_sealed(changed))


@pytest.mark.parametrize("worth", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(worth: float) -> None:
    known = _knowledge()
    weights = known.weights.copy()
    weights[1, 1] = worth
    with pytest.raises(KnowledgeError):
        GameKnowledge.from_bytes(replace(known, weights=weights).to_bytes())


def test_a_scrambled_copy_finds_what_is_known_and_other_games_do_not(tmp_path: Path) -> None:
    rules = Game.load("kalah").rules
    assert find(rules, tmp_path) is None
    store = KnowledgeStore(tmp_path / "knowledge")
    store.put(_knowledge(canonical_names(rules).fingerprint))
    for seed in range(5):
        found = find(scramble(rules, seed)[0], store.directory)
        assert found is not None and _same(found[1], _knowledge(found[0].fingerprint))
    for game in ("tictactoe", "breakthrough", "connectfour"):
        assert find(Game.load(game).rules, store.directory) is None


def test_a_damaged_file_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    rules = Game.load("tictactoe").rules
    store = KnowledgeStore(tmp_path)
    store.put(_knowledge(canonical_names(rules).fingerprint))
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), b""):
        path.write_bytes(damaged)
        assert find(rules, tmp_path) is None


def test_a_file_under_the_name_of_another_game_is_not_used(tmp_path: Path) -> None:
    store = KnowledgeStore(tmp_path)
    store.put(_knowledge("a" * 64))
    (tmp_path / ("a" * 64)).rename(tmp_path / ("b" * 64))
    assert store.get("b" * 64) is None
    assert list(store.fingerprints()) == ["b" * 64]


def test_a_file_to_read_is_checked_too(tmp_path: Path) -> None:
    path = tmp_path / "kalah.knowledge"
    path.write_bytes(_knowledge().to_bytes())
    assert _same(read_file(path), _knowledge())
    path.write_bytes(b"#!/bin/sh\n")
    with pytest.raises(KnowledgeError, match="not knowledge of a game"):
        read_file(path)


# --- Scrambled and reordered copies of a game have its fingerprint, and no other game has
GAMES = sorted(path.stem for path in installed_games())
TEN = (
    "amazons", "breakthrough", "checkers", "chess", "connectfour", "hex", "kalah", "ninemensmorris",
    "othello", "tictactoe",
)  # fmt: skip


def _names_of(text: str) -> CanonicalNames:
    return canonical_names(parse_rules(text, "test"))


def _shuffled(rules: Rules, rng: random.Random) -> Rules:
    """The rules, their bodies and the parts of their formulas in another order."""

    def formula(old: Formula) -> Formula:
        match old:
            case Literal():
                return old
            case Not(inner):
                return Not(formula(inner))
            case And(parts) | Or(parts):
                return type(old)(tuple(rng.sample([formula(part) for part in parts], len(parts))))

    mixed = [Rule(r.head, tuple(rng.sample([formula(p) for p in r.body], len(r.body)))) for r in rules]
    return Rules(tuple(rng.sample(mixed, len(mixed))), rules.spelling, rules.name)


@pytest.mark.parametrize("game", TEN)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_scrambled_and_shuffled_copy_has_the_same_fingerprint(game: str, seed: int) -> None:
    rules = Game.load(game).rules
    copy, mapping = scramble(rules, seed)
    ours, theirs = canonical_names(rules), canonical_names(_shuffled(copy, random.Random(seed)))
    assert ours.fingerprint == theirs.fingerprint
    assert sorted(ours.new.values()) == sorted(theirs.new.values())
    assert ours.new.keys() == {old for old in mapping if not old.startswith("?")}
    assert theirs.new.keys() == {mapping[old] for old in ours.new}


def test_canonical_names_of_a_copy_are_those_of_the_game_where_no_names_are_alike() -> None:
    rules = Game.load("connectfour").rules
    ours = canonical_names(rules)
    copy, mapping = scramble(rules, 3)
    theirs = canonical_names(copy)
    # A mirror image of the board is the only other way to name it, and numbers in order tell it from that.
    assert {mapping[old]: new for old, new in ours.new.items()} == theirs.new


def test_no_two_games_have_the_same_fingerprint() -> None:
    prints = {canonical_names(Game.load(game).rules).fingerprint for game in GAMES}
    assert len(prints) == len(GAMES)


def test_names_that_can_all_be_exchanged_cost_little_and_are_told_apart_by_what_they_do() -> None:
    colours = [f"c{number}" for number in range(12)]

    def game(order: list[str], last: str) -> str:
        facts = "\n".join(f"(colour {name})" for name in order)
        return f"(role r)\n{facts}\n(<= terminal (true (painted {last} {last})))"

    same = {_names_of(game(colours[shift:] + colours[:shift], "c0")).fingerprint for shift in range(12)}
    assert same == {_names_of(game(colours, "c5")).fingerprint}
    assert _names_of(game(colours[:-1], "c0")).fingerprint not in same


def test_graphs_that_refinement_cannot_tell_apart_have_different_fingerprints() -> None:
    def ring(names: list[str]) -> str:
        pairs = zip(names, names[1:] + names[:1], strict=True)
        return "\n".join(f"(edge {a} {b})\n(edge {b} {a})" for a, b in pairs)

    names = [f"n{number}" for number in range(6)]
    one = _names_of(f"(role r)\n{ring(names)}")
    two = _names_of(f"(role r)\n{ring(names[:3])}\n{ring(names[3:])}")
    again = _names_of(f"(role r)\n{ring([names[i] for i in (3, 0, 5, 1, 4, 2)])}")
    assert one.fingerprint != two.fingerprint
    assert one.fingerprint == again.fingerprint


def test_variables_that_look_alike_in_a_rule_do_not_matter() -> None:
    first = _names_of("(role r)\n(<= (twins ?a ?b) (likes ?a ?b) (likes ?b ?a) (distinct ?a ?b))")
    second = _names_of("(role r)\n(<= (twins ?y ?x) (distinct ?y ?x) (likes ?x ?y) (likes ?y ?x))")
    other = _names_of("(role r)\n(<= (twins ?a ?b) (likes ?a ?b) (likes ?a ?b) (distinct ?a ?b))")
    assert first.fingerprint == second.fingerprint != other.fingerprint
    orders = "abcdefgh", "hgfedcba"
    rules = (
        " ".join(f"(likes ?{a} ?{b})" for a, b in zip(order, order[::-1], strict=True)) for order in orders
    )
    third, fourth = (_names_of(f"(role r)\n(<= p {body})") for body in rules)
    assert third.fingerprint == fourth.fingerprint


def test_numbers_that_can_become_goals_tell_games_apart() -> None:
    first, second = (_names_of(f"(role r)\n(goal r {value})\n(cell 1 1)") for value in (100, 50))
    assert first.fingerprint != second.fingerprint


def test_a_search_that_would_take_long_is_given_up() -> None:
    with pytest.raises(FingerprintError):
        canonical_names(Game.load("chess").rules, effort=10)
    with pytest.raises(FingerprintError):
        _names_of("\n".join(f"(p {number})" for number in range(10_000)))


def test_every_public_game_has_a_fingerprint_that_its_scrambled_copy_has(corpus_games: list[Path]) -> None:
    homes: dict[str, list[str]] = {}
    for path in corpus_games[::10]:
        rules = Game.load(path).rules
        found = canonical_names(rules).fingerprint
        assert canonical_names(scramble(rules, 11)[0]).fingerprint == found
        homes.setdefault(found, []).append(path.stem)
    assert all(len(games) == 1 for games in homes.values())


# --- files that are carried, and those that come along ----------------------------------------------------
def _with_net() -> GameKnowledge:
    return replace(_knowledge(), net=LearntNet.new(3, 2, np.random.default_rng(0)))


@pytest.mark.parametrize("known", [_knowledge(), _with_net(), replace(_with_net(), net_used=False)])
def test_a_carried_file_has_all_that_searches_use_to_two_or_three_digits(known: GameKnowledge) -> None:
    again = GameKnowledge.from_bytes(known.carried())
    assert again.features == known.features and again.columns == known.columns
    assert (again.share, again.looks, again.record) == (known.share, known.looks, known.record)
    assert again.model == known.model
    assert np.allclose(again.weights, known.weights, rtol=1e-3)
    assert not again.sums.any() and not again.sizes.any()
    if known.model == "net":
        assert known.net is not None and again.net is not None
        (first, *rest), (known_first, *known_rest) = again.net.arrays(), known.net.arrays()
        assert all(np.allclose(a, b, rtol=1e-3, atol=1e-6) for a, b in zip(rest, known_rest, strict=True))
        # Each unit has 255 steps from minus to plus its largest weight.
        assert (np.abs(first - known_first) <= 0.51 / 127 * np.abs(known_first).max(axis=0)).all()
    else:
        assert again.net is None


def test_nets_of_any_width_come_back_and_older_ones_that_correct_weights_are_refused() -> None:
    rng = np.random.default_rng(1)
    for units in (4, 64, 256):
        net = LearntNet.new(3, 2, rng, units)
        for data in (replace(_knowledge(), net=net).to_bytes(), replace(_knowledge(), net=net).carried()):
            back = GameKnowledge.from_bytes(data).net
            assert back is not None and back.units == units
    older = replace(_knowledge(), net=LearntNet.new(3, 2, rng, 64)).to_bytes()
    for lacking in (b'"units": 64, ', b'"net_alone": true, '):
        with pytest.raises(KnowledgeError, match="corrects linear weights"):
            GameKnowledge.from_bytes(_rewritten(older, lacking, b""))
    with pytest.raises(KnowledgeError):
        GameKnowledge.from_bytes(_rewritten(older, b'"units": 64', b'"units": 999999999'))
    odd = replace(_knowledge(), net=LearntNet.new(3, 2, rng, 6))
    for data in (odd.to_bytes(), odd.carried()):  # kernels take four units at once
        with pytest.raises(KnowledgeError, match="multiple of 4"):
            GameKnowledge.from_bytes(data)


@examples(200)
@given(place=st.integers(0), bit=st.integers(0, 7))
def test_a_changed_bit_of_a_carried_file_is_noticed(place: int, bit: int) -> None:
    data = bytearray(_with_net().carried())
    data[place % len(data)] ^= 1 << bit
    with pytest.raises(KnowledgeError):
        GameKnowledge.from_bytes(bytes(data))
    with pytest.raises(KnowledgeError):
        GameKnowledge.from_bytes(_sealed(bytes(data[:-32])) if place % len(data) < 8 else bytes(data[:-1]))


@pytest.mark.parametrize(
    "rest",
    [
        zlib.compress(bytes(MOST_BYTES // 4)),
        zlib.compress(b"")[:-1],
        b"",
        b"junk",
        zlib.compress(b"1\n2\n3" + bytes(12)) + b"more",
    ],
    ids=["much more than it says", "cut", "nothing", "not compressed", "something behind it"],
)
def test_a_carried_file_that_lies_about_its_length_is_refused_before_it_takes_memory(rest: bytes) -> None:
    data = _knowledge().carried()[:-32]
    begin = 12 + int.from_bytes(data[8:12], "little")
    with pytest.raises(KnowledgeError):
        GameKnowledge.from_bytes(_sealed(data[:begin] + rest))
    huge = _rewritten(_knowledge().carried(), b'"features": 3', b'"features": 999999999')
    with pytest.raises(KnowledgeError, match="too large"):
        GameKnowledge.from_bytes(huge)


def test_knowledge_that_comes_along_is_used_until_the_users_own_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = Game.load("tictactoe").rules
    along = replace(_knowledge(canonical_names(rules).fingerprint), moves=1)
    monkeypatch.setattr(stores, "BUNDLED", tmp_path)
    monkeypatch.setenv("GGP_CACHE", str(tmp_path / "cache"))
    (tmp_path / bundled_name(along)).write_bytes(along.carried())
    own = KnowledgeStore()
    for share, moves in ((None, 1), (0.0, 1), (0.5, 2)):
        if share is not None:
            own.put(replace(along, share=share, moves=2))
        for copy in (rules, scramble(rules, 1)[0]):
            found = find(copy)
            assert found is not None and found[1].moves == moves
    assert find(rules, tmp_path / "elsewhere") is None
    assert find(Game.load("nim").rules) is None
    (tmp_path / bundled_name(along)).write_bytes(b"damaged")
    own.remove(along.fingerprint)
    assert find(rules) is None


def test_files_that_come_along_are_small_won_their_trial_and_are_of_the_games_as_they_are() -> None:
    """A game whose rules have changed is to be taught again: ``python -m bench.teach NAME``."""
    files, rules = bundled_files(), {path.stem: path for path in installed_games()}
    for path in files:
        known = read_file(path)
        assert path.name == bundled_name(known)
        assert path.stat().st_size <= 150_000
        assert known.share > 0 and known.record.wins > known.record.losses
        assert canonical_names(Game.load(str(rules[known.game])).rules).fingerprint == known.fingerprint
    assert sum(path.stat().st_size for path in files) <= 3_000_000
