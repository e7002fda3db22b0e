"""What is kept comes back whole, for the game and its scrambled copies alone; damaged files are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.scramble import scramble
from ggp.game import Game
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import MAGIC, GameKnowledge, KnowledgeError, Record
from players.knowledge.store import KnowledgeStore, find, read_file
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
