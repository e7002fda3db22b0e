"""`ggp cover` of packing puzzles: told, counted, drawn, exported, gone on with."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from gdl.errors import GdlError
from tests.ggp.program import invoke
from tests.places import GAMES

SOMA = GAMES / "puzzles" / "soma.packing"
BOX = """<puzzle version="2"><gridType type="0"/><shapes>
<voxel x="2" y="1" z="1" type="0">##</voxel><voxel x="2" y="3" z="1" type="0">######</voxel>
</shapes><problems>
<problem><shapes><shape id="0" count="3"/></shapes><result id="1"/></problem>
<problem name="open"><shapes><shape id="0" min="0" max="3"/></shapes><result id="1"/></problem>
<problem state="1"><shapes><shape id="0"/></shapes><result id="0"/>
<assembler version="1.4">1</assembler></problem>
</problems></puzzle>"""


@pytest.fixture
def box(tmp_path: Path) -> Path:
    path = tmp_path / "box.xmpuzzle"
    path.write_text(BOX)
    return path


run = partial(invoke, "cover")


def told(*words: str | Path) -> dict[str, object]:
    whole: dict[str, object] = json.loads(run(*words, "--json")[1])
    return whole


def test_soma_is_counted_told_and_drawn(tmp_path: Path) -> None:
    assert told(SOMA, "--count")["solutions"] == 240
    page = tmp_path / "soma.html"
    one = told(SOMA, "--first", "3", "--output", page)
    assert one["solutions"] == 3 and one["complete"] is False
    for solution in one["found"]:  # type: ignore[attr-defined]
        cells = [tuple(cell) for piece in solution for cell in piece["cells"]]
        assert {piece["piece"] for piece in solution} == set("VLTZPAB")
        assert len(cells) == len(set(cells)) == 27
    assert "<html" in page.read_text()
    status, text = run(SOMA)
    assert status == 0 and "z = 2" in text


def test_a_burrtools_file(box: Path, tmp_path: Path) -> None:
    assert told(box, "--all")["solutions"] == 2
    assert told(box, "--all", "--keep-rotations")["solutions"] == 3
    assert told(f"{box}:2", "--all")["puzzle"] == "open"
    drawing = tmp_path / "out.svg"
    assert told(box, "--all", "-o", drawing)["solutions"] == 2
    assert drawing.read_text().lstrip().startswith("<svg")


def test_a_search_is_saved_and_gone_on_with(tmp_path: Path) -> None:
    save = tmp_path / "soma.saved"
    first = told(SOMA, "--all", "--seconds", "0", "--resume", save)
    assert first["stopped"] == "time is up" and save.exists()
    rest = told(SOMA, "--all", "--resume", save)
    assert rest["solutions"] == len(rest["found"]) == 240  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{}:3"], "interrupted"),
        (["{}:4"], "no problem 4"),
        (["{}", "--count", "-o", "x.svg"], "--count"),
        (["{}", "-o", "x.pdf"], "not a known kind of file"),
        (["{}", "-o", "/nowhere/x.svg"], "cannot write"),
    ],
)
def test_what_cannot_be_is_said(box: Path, words: list[str], message: str) -> None:
    with pytest.raises(GdlError, match=message) as caught:
        run(*(word.format(box) for word in words))
    assert caught.value.remedy


def test_options_of_packings_are_for_packings(tmp_path: Path) -> None:
    plain = tmp_path / "plain.dlx"
    plain.write_text("a b\na b\n")
    assert told(plain)["solutions"] == 1
    for words in ([plain, "--keep-rotations"], [f"{plain}:1"], [plain, "-o", str(tmp_path / "x.svg")]):
        with pytest.raises(GdlError, match="packing puzzle"):
            run(*words)
    with pytest.raises(GdlError, match="one problem"):
        run(f"{SOMA}:1")
    wrong = tmp_path / "wrong.packing"
    wrong.write_text("packing\nresult 2 x 2\npiece a\n####\n#\n")
    with pytest.raises(GdlError, match=r"wrong\.packing:2:1: .* 1 cell more"):
        run(wrong)
