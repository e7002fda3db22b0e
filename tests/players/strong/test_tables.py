"""Tables on disk: what is written is read, and what was damaged is not believed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from gdl.writing import sealed, unsealed
from ggp.game import Game
from players.sorted_sets.rows import as_set
from players.strong.choice_kernels import UNKNOWN
from players.strong.storage import MANIFEST, pack_block, rules_digest, unpack_block
from players.strong.tables import Tables
from propnet.jit.arrays import Words
from tests.examples import examples
from tests.players.strong.tables import table_of


def random_set(seed: int, n: int, words: int) -> Words:
    """A set of records in which some bytes are all the same."""
    rng = np.random.default_rng(seed)
    masks = rng.choice(np.array([0, 0xFF, 0x3, 0x8000000000000001, 0xFF00FF00], np.uint64), words)
    rows = np.ascontiguousarray(rng.integers(0, 1 << 63, (n, words), np.uint64) * np.uint64(3) & masks)
    return as_set(rows, np.empty_like(rows), n, tag_bits=0)


@examples(50)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 200), words=st.integers(1, 3), wide=st.sampled_from([1, 2])
)
def test_blocks_are_read_as_they_were_written(seed: int, n: int, words: int, wide: int) -> None:
    rows = random_set(seed, n, words)
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 250, len(rows)).astype(np.uint8)
    distances = rng.integers(0, 255 if wide == 1 else UNKNOWN, len(rows)).astype(np.uint16)
    distances[rng.random(len(rows)) < 0.2] = UNKNOWN
    block = pack_block(rows, values, distances, wide)
    for read, wrote in zip(
        unpack_block(block, len(rows), words, wide), (rows, values, distances), strict=True
    ):
        assert read.dtype == wrote.dtype
        assert (read == wrote).all()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table_of("tictactoe", tmp_path / "table")
    return tmp_path / "table"


def test_states_that_are_not_there_have_no_value(folder: Path) -> None:
    tables = Tables.open(folder)
    machine = Game.load("tictactoe").machine("prover")
    assert tables.value(machine.initial_state()) is not None
    known = machine.initial_state().propositions
    assert tables.value_of([]) is None
    other = Game.load("connectfour").machine("prover").initial_state()
    assert tables.value(other) is None
    two = machine.initial_state().play("(mark a 1)", "noop").propositions | known
    assert tables.value_of(two) is None


def test_damage_is_told_and_never_believed(folder: Path) -> None:
    state = Game.load("tictactoe").machine("prover").initial_state()
    first = folder / "layer-00000.table"
    good, manifest = first.read_bytes(), (folder / MANIFEST).read_bytes()
    first.write_bytes(bytes([good[0] ^ 1]) + good[1:])
    with pytest.raises(GdlError, match=r"layer-00000\.table is damaged"):
        Tables.open(folder).value(state)
    first.write_bytes(good[:-1])
    with pytest.raises(GdlError, match="bytes long, not"):
        Tables.open(folder)
    first.unlink()
    with pytest.raises(GdlError, match="missing"):
        Tables.open(folder)
    first.write_bytes(good)
    for changed, why in (
        (manifest.replace(b"50", b"51", 1), "its digest does not fit"),
        (sealed({**unsealed(manifest)[1], "version": 1}), "has version 1"),
        (manifest[:-9], "not a table.s manifest"),
        (b"[]", "not a table.s manifest"),
        (b'{"body": {"format": "other"}}', "not a table.s manifest"),
    ):
        (folder / MANIFEST).write_bytes(changed)
        with pytest.raises(GdlError, match=why):
            Tables.open(folder)
    (folder / MANIFEST).unlink()
    with pytest.raises(GdlError, match="there is no table in"):
        Tables.open(folder)


def test_a_table_is_for_its_rules_in_any_layout(folder: Path) -> None:
    tables = Tables.open(folder)
    text = Game.load("tictactoe").text
    tables.check_rules(parse_rules(text.upper() + "\n; more"))
    with pytest.raises(GdlError, match="is for other rules"):
        tables.check_rules(parse_rules(text + "(init (cell a 1 x))"))


def test_the_digest_does_not_depend_on_the_order_of_sentences() -> None:
    assert rules_digest(parse_rules("(role a) (init b)")) == rules_digest(parse_rules("(init b)\n(ROLE a)"))


def test_a_table_replaces_a_table_and_nothing_else(folder: Path) -> None:
    table_of("nim", folder)
    assert orjson.loads((folder / MANIFEST).read_bytes())["body"]["name"] == "nim"
    assert len(list(folder.iterdir())) == 2
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(GdlError, match="holds something else"):
        table_of("nim", folder)
    assert (folder / "notes.txt").read_text() == "mine"
    (folder.parent / "file").write_text("mine")
    with pytest.raises(GdlError, match="holds something else"):
        table_of("nim", folder.parent / "file")
