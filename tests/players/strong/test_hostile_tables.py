"""Tables whose manifests have a right digest and wrong contents: refused on one line, or read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench.boards.sizes import breakthrough, nim
from gdl.errors import GdlError
from gdl.writing import sealed
from players.puzzles.frontier.outcome import SearchLimits
from players.sorted_sets.files import MANIFEST as CHECKPOINT
from players.sorted_sets.files import sealed as sealed_checkpoint
from players.strong.layers import solve_game
from players.strong.storage import MANIFEST
from players.strong.tables import Tables
from tests.machines import network
from tests.mutations import refusals
from tests.players.strong.tables import PLAIN, Enough, table_of

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
