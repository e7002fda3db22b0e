"""Saved searches of covers with wrong contents: refused, or gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.cover.instances import queens
from gdl.errors import GdlError
from gdl.writing import sealed, unsealed
from ggp.commands.puzzles.cover import command
from ggp.cover.instance import load_instance
from ggp.cover.solve import CoverRequest, solve_cover
from players.puzzles.cover.outcome import CoverOptions
from tests.mutations import refusals
from tests.places import GAMES
from tests.players.puzzles.cover.problems import as_json


@pytest.mark.parametrize(("puzzle", "engine"), [("queens", "cells"), ("queens", "bitset"), ("packing", None)])
def test_a_search_with_wrong_contents_is_refused_or_gone_on_with(
    puzzle: str, engine: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, saved = tmp_path / "queens.json", tmp_path / "saved"
    path.write_text(as_json(queens(9)))
    if puzzle == "packing":
        path = GAMES / "puzzles" / "soma.packing"

    def run(seconds: float) -> None:
        options = CoverOptions(engine=engine, delivers=True, first=None)
        solve_cover(load_instance(path), CoverRequest(options, seconds, saved), as_json=True)

    run(0.0)
    _, whole = unsealed(saved.read_bytes())

    def go_on(search: bytes) -> None:
        saved.write_bytes(search)
        run(0.01)

    told = refusals(whole, sealed, go_on, 60)
    assert len(told) > 20
    assert not any("\n" in text for text in told)
    capsys.readouterr()


@pytest.mark.parametrize(
    "line", ['"x"', "[[0]]", "[-1]", "[999999]", "[1, 0]", "[0, 0]", "{}", "null", "[true]", "[", "[1.5]"]
)
def test_solutions_that_are_none_are_refused(line: str, tmp_path: Path) -> None:
    path, saved = tmp_path / "queens.json", tmp_path / "saved"
    path.write_text(as_json(queens(5)))
    command(str(path), every=True, resume=saved, as_json=True)
    beside = tmp_path / "saved.solutions"
    first, *others = beside.read_text().splitlines()
    text = "\n".join([line.ljust(len(first)), *others]) + "\n"
    beside.write_text(text)
    _, whole = unsealed(saved.read_bytes())
    whole["told"]["bytes"] = len(text)
    saved.write_bytes(sealed(whole))
    with pytest.raises(GdlError, match="no saved search"):
        command(str(path), every=True, resume=saved, as_json=True)


def test_links_beside_a_saved_search_change_no_other_file(tmp_path: Path) -> None:
    path, saved, mine = tmp_path / "queens.json", tmp_path / "saved", tmp_path / "mine"
    path.write_text(as_json(queens(5)))
    mine.write_text("mine" * 1000)
    saved.symlink_to(tmp_path / "nowhere")
    command(str(path), every=True, resume=saved, as_json=True)
    assert not saved.is_symlink()
    (tmp_path / "saved.solutions").unlink()
    (tmp_path / "saved.solutions").symlink_to(mine)
    with pytest.raises(GdlError, match="is a link"):
        command(str(path), every=True, resume=saved, as_json=True)
    assert mine.read_text() == "mine" * 1000
