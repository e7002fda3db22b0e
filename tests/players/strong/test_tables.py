"""Tables on disk: what is written is read, what was damaged or forged is not; the player that uses them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.boards.sizes import breakthrough, nim
from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules
from gdl.writing import sealed, unsealed
from ggp.game import Game
from players.player import Player
from players.puzzles.frontier.outcome import SearchLimits
from players.registry import make_player
from players.sorted_sets.files import MANIFEST as CHECKPOINT
from players.sorted_sets.files import sealed as sealed_checkpoint
from players.sorted_sets.rows import as_set
from players.strong.choice_kernels import UNKNOWN
from players.strong.layers import solve_game
from players.strong.storage import MANIFEST, pack_block, rules_digest, unpack_block
from players.strong.tables import Tables
from propnet.jit.arrays import Words
from tests.examples import examples
from tests.machines import network
from tests.mutations import refusals
from tests.players.strong.tables import PLAIN, Enough, table_of


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


# --- Tables whose manifests have a right digest and wrong contents: refused on one line, or read
MUTATIONS = 200


@pytest.mark.slow
@pytest.mark.parametrize(("text", "options"), [(nim(3, 4), PLAIN), ("tictactoe", SearchLimits(1 << 32))])
def test_a_manifest_with_a_right_digest_and_wrong_contents_is_refused_or_read(
    text: str, options: SearchLimits, tmp_path: Path
) -> None:
    machine = network(text)
    table_of(text, tmp_path, options)
    states = [machine.initial_state()]
    for _ in range(4):
        if machine.is_terminal(states[-1]):
            break
        moves = [machine.legal_moves(states[-1], role)[0] for role in range(len(machine.roles))]
        states.append(machine.next_state(states[-1], moves))
    body = orjson.loads((tmp_path / MANIFEST).read_bytes())["body"]

    def ask(manifest: bytes) -> None:
        (tmp_path / MANIFEST).write_bytes(manifest)
        tables = Tables.open(tmp_path)
        tables.check_rules(machine.rules)
        for state in states:
            tables.value(state)

    told = refusals(body, sealed, ask, MUTATIONS)
    assert len(told) > MUTATIONS // 3
    assert not any("\n" in text for text in told)


@pytest.mark.parametrize(
    "name", ["../layer-00000.table", "/etc/passwd", "a\0b", "..", "", "layer-00000.table/../../x", "x.table"]
)
def test_files_of_a_table_lie_in_its_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    table_of("tictactoe", folder)
    shutil.copy(folder / "layer-00000.table", tmp_path)
    body = orjson.loads((folder / MANIFEST).read_bytes())["body"]
    body["files"][0]["name"] = name
    (folder / MANIFEST).write_bytes(sealed(body))
    with pytest.raises(GdlError, match=r"body\.files\[0\]\.name is"):
        Tables.open(folder)


@pytest.mark.slow
def test_a_checkpoint_with_a_right_digest_and_wrong_contents_is_refused_or_gone_on_with(
    tmp_path: Path,
) -> None:
    machine, scratch = network(breakthrough(2, 4)), tmp_path / "scratch"

    def stopped(after: int) -> Callable[[str, int, int], None]:
        left = [after]

        def watch(*_: Any) -> None:
            left[0] -= 1
            if not left[0]:
                raise Enough

        return watch

    def go_on(manifest: bytes) -> None:
        here = tmp_path / "mutated"
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(scratch, here)
        (here / CHECKPOINT).write_bytes(manifest)
        with suppress(Enough):
            solve_game(machine, SearchLimits(1 << 32, here), None, stopped(4))

    for after in (6, 16):
        shutil.rmtree(scratch, ignore_errors=True)
        with pytest.raises(Enough):
            solve_game(machine, SearchLimits(1 << 32, scratch), None, stopped(after))
        body = orjson.loads((scratch / CHECKPOINT).read_bytes())["body"]
        told = refusals(body, sealed_checkpoint, go_on, 60)
        assert len(told) > 20
        assert not any("\n" in text for text in told)


# --- The tables player: never worse than the table says, and not lost where there is none
def started(machine: Machine, role: int, folder: Path | str, **options: object) -> tuple[Player, list[str]]:
    player = make_player("tables", 3, dir=str(folder), **options)
    told: list[str] = []
    player.found_out = told.append
    soon = time.monotonic() + 0.3
    player.start(machine, role, machine.initial_state(), 0.3, soon)
    return player, told


def worst(player: Player, machine: Machine, role: int) -> int:
    """What the player gets at least, whatever the other one does."""
    known: dict[State, int] = {}

    def visit(state: State) -> int:
        if state not in known:
            if machine.is_terminal(state):
                goal = machine.goal(state, role)
                assert goal is not None
                known[state] = goal
            else:
                options = [machine.legal_moves(state, r) for r in (0, 1)]
                if len(options[role]) > 1:
                    options[role] = [player.choose(state, time.monotonic() + 1).move]
                after = [machine.next_state(state, (a, b)) for a in options[0] for b in options[1]]
                known[state] = min(map(visit, after))
        return known[state]

    return visit(machine.initial_state())


@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize(
    ("text", "values"), [("tictactoe", (50, 50)), ("nim", (100, 0)), (nim(1, 2, 3), (0, 100))]
)
def test_it_gets_the_value_of_the_game_against_every_play(
    level: str, text: str, values: tuple[int, int], tmp_path: Path
) -> None:
    table_of(text, folder := tmp_path / "table")
    machine = Game.load(text).machine(level)
    for role in (0, 1):
        player, told = started(machine, role, folder)
        assert worst(player, machine, role) >= values[role]
        assert not told
        player.stop()


def test_it_wins_by_the_shortest_way(tmp_path: Path) -> None:
    table_of("tictactoe", folder := tmp_path / "table")
    machine = Game.load("tictactoe").machine("prover")
    state = machine.initial_state()
    for mine, theirs in (("(mark a 1)", "(mark b 1)"), ("(mark a 2)", "(mark b 2)")):
        state = state.play(mine, "noop").play("noop", theirs)
    player, _ = started(machine, 0, folder)
    choice = player.choose(state, time.monotonic() + 1)
    assert str(machine.move(0, choice.move)) == "(mark a 3)"
    assert choice.note == "from the table: 100, ends after 1 move"


def test_without_a_table_that_fits_another_player_moves(tmp_path: Path) -> None:
    table_of("nim", folder := tmp_path / "table")
    machine = Game.load("tictactoe").machine("prover")
    state = machine.initial_state()
    for where, why in ((folder, "is for other rules"), (tmp_path / "none", "there is no table")):
        player, told = started(machine, 0, where, otherwise="legal")
        assert why in told[0] and told[0].endswith("legal plays")
        choice = player.choose(state, time.monotonic() + 1)
        assert choice.move == make_legal(machine, state)
        assert why in choice.note
        player.stop()


def test_in_a_state_that_the_table_lacks_another_player_moves(tmp_path: Path) -> None:
    table_of("tictactoe", folder := tmp_path / "table")
    machine = Game.load("tictactoe").machine("prover")
    player, told = started(machine, 0, folder, otherwise="legal")
    state = machine.state_of(
        machine.proposition(machine.proposition_id(p))
        for p in machine.initial_state().play("(mark b 2)", "noop").propositions
        if "control" not in str(p)
    )
    control = next(p for p in machine.initial_state().propositions)
    state = machine.state_of({*state.propositions, control})  # x has moved, and is to move again
    choice = player.choose(state, time.monotonic() + 1)
    assert choice.move == make_legal(machine, state)
    assert told == ["the table does not have this state; legal plays"]


def make_legal(machine: Machine, state: State) -> int:
    player = make_player("legal")
    player.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
    return player.choose(state, time.monotonic() + 0.1).move


def test_the_other_player_gets_options(tmp_path: Path) -> None:
    machine = Game.load("tictactoe").machine("prover")
    player, _ = started(machine, 0, tmp_path, otherwise="montecarlo", workers=1, ponder=False)
    other = player._other  # type: ignore[attr-defined]
    assert other.name == "montecarlo"
    player.stop()
