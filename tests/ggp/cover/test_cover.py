"""``ggp cover``: what it says and draws, what it refuses, and what it keeps when it is killed."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from functools import partial
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bench.cover.instances import dominoes, queens
from gdl.errors import GdlError
from gdl.writing import sealed, unsealed
from ggp.commands.puzzles.cover import command
from ggp.cover.drawings import SHAPES, Solid, edges, page, surface, svg
from ggp.cover.instance import load_instance
from ggp.cover.packed import LETTERS, Packed, PlacedPiece, css, layers
from ggp.cover.solve import CoverRequest, solve_cover
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.packing.disassembly import Assembly, take_apart
from tests.ggp.program import ggp, invoke, started
from tests.mutations import refusals
from tests.places import GAMES
from tests.players.puzzles.cover.problems import as_json
from tests.waiting import until


def cover(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return ggp("cover", *words, cwd=cwd, timeout=120)


@pytest.mark.slow
def test_solutions_are_told(tmp_path: Path) -> None:
    (tmp_path / "small.dlx").write_text("a b c | x\na b x:red\nc x:red\nc x:blue\na\nb c\n")
    text = cover("small.dlx", "--all", cwd=tmp_path)
    assert text.returncode == 0, text.stderr
    assert all(f"\n{lines}\n" in text.stdout for lines in ("a b x:red\nc x:red", "a\nb c"))
    assert "solution 1\n" in text.stdout and "solution 2\n" in text.stdout
    line = json.loads(cover("small.dlx", "--all", "--json", cwd=tmp_path).stdout)
    assert (line["solutions"], line["complete"], sorted(line["found"])) == (2, True, [[0, 1], [3, 4]])
    assert set(line) >= {"nodes", "engine", "seconds_cpu", "seconds_wall"}


@pytest.mark.slow
def test_what_is_left_to_be_told_is_no_whole_search(tmp_path: Path) -> None:
    # The engine has searched all of it when the first solution is told.
    (tmp_path / "small.dlx").write_text("a b\na\nb\na b\n")
    told = cover("small.dlx", cwd=tmp_path).stdout
    assert (
        "1, there may be more: --all prints them" in told and "searched" not in told and "100.00%" not in told
    )
    line = json.loads(cover("small.dlx", "--json", cwd=tmp_path).stdout)
    assert (line["solutions"], line["complete"]) == (1, False) and line["progress"] < 1
    line = json.loads(cover("small.dlx", "--all", "--json", cwd=tmp_path).stdout)
    assert (line["solutions"], line["complete"], line["progress"]) == (2, True, 1.0)


def test_pieces_are_named_below_their_picture(tmp_path: Path) -> None:
    text = "packing\npiece bar x2\n##\npiece corner\n##\n#.\nresult\n####\n###.\n"
    (tmp_path / "small.packing").write_text(text)
    told = cover("small.packing", cwd=tmp_path).stdout
    assert "B A bar, C corner\n" in told and told.count("C ") >= 3


def test_text_with_items_in_brackets_is_named_and_holes_without_effect_are_remarked_upon(
    tmp_path: Path,
) -> None:
    (tmp_path / "small.xcc").write_text("\n< a b c > [ x ]\na b x:red;\nc x:red;\n")
    with pytest.raises(GdlError, match=r"small.xcc:2:1: items in < > and \[ \] \(XCC text\) are not read"):
        command(str(tmp_path / "small.xcc"))
    plain = load_instance(_file(tmp_path, "plain.json", '{"items": ["a"], "options": [["a"]], "holes": 1}'))
    assert plain.remark == '`holes` changes nothing: no item has "hole": true'
    hole = '{"items": [{"name": "a", "min": 0, "hole": true}], "options": [["a"]], "holes": 1}'
    assert load_instance(_file(tmp_path, "hole.json", hole)).remark == ""


def _file(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.slow
def test_counted_stopped_and_refused(tmp_path: Path) -> None:
    (tmp_path / "board.json").write_text(as_json(dominoes(8, 8)))
    (tmp_path / "none.dlx").write_text("a b\na\n")
    (tmp_path / "wrong.dlx").write_text("a b\na c\n")
    line = json.loads(cover("board.json", "--count", "--json", cwd=tmp_path).stdout)
    assert (line["solutions"], line["complete"], line["found"]) == (12988816, True, None)
    assert cover("none.dlx", cwd=tmp_path).returncode == 1
    refused = cover("wrong.dlx", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("ggp: wrong.dlx:2:3: 'c' is not an item")
    assert refused.stderr.splitlines()[1:] == ["    2 | a c", "      |   ^"]
    for name, options, message in [
        ("absent.dlx", {}, "cannot read"),
        ("none.dlx", {"every": True, "count": True}, "exclude each other"),
    ]:
        with pytest.raises(GdlError, match=message):
            command(str(tmp_path / name), **options)


@pytest.mark.slow
def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    """Killed as soon as something was saved."""
    size = 8
    (tmp_path / "queens.json").write_text(as_json(queens(size)))
    words = ["queens.json", "--all", "--json", "--resume", "saved", "--workers", "2"]
    run = started("cover", *words, cwd=tmp_path, stdout=subprocess.DEVNULL)
    until(lambda: run.poll() is not None or (tmp_path / "saved").exists())
    run.send_signal(signal.SIGKILL)
    run.wait()
    last = cover(*words, cwd=tmp_path)
    assert last.returncode == 0, last.stderr
    line = json.loads(last.stdout)
    assert line["complete"] and line["solutions"] == len(line["found"]) == 92
    assert len({tuple(one) for one in line["found"]}) == 92
    again = json.loads(cover(*words, cwd=tmp_path).stdout)
    assert again["found"] == line["found"]


@pytest.mark.slow
def test_stopped_by_the_clock_and_by_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "queens.json").write_text(as_json(queens(14)))
    words = ["queens.json", "--count", "--json", "--resume", "saved"]
    first = json.loads(cover(*words, "--seconds", "0.2", cwd=tmp_path).stdout)
    assert (first["complete"], first["stopped"]) == (False, "time is up")
    run = started("cover", *words, cwd=tmp_path)
    before = (tmp_path / "saved").stat().st_mtime_ns
    until(lambda: run.poll() is not None or (tmp_path / "saved").stat().st_mtime_ns != before)
    run.send_signal(signal.SIGINT)
    line = json.loads(run.communicate(timeout=60)[0])
    assert run.returncode == 130 and line["stopped"] == "interrupted"
    assert line["progress"] >= first["progress"] and line["nodes"] >= first["nodes"]


def test_what_was_saved_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "queens.json").write_text(as_json(queens(5)))
    (tmp_path / "other.json").write_text(as_json(queens(6)))
    saved = tmp_path / "saved"
    command(str(tmp_path / "queens.json"), every=True, resume=saved)
    whole = saved.read_text()
    with pytest.raises(GdlError, match="another problem"):
        command(str(tmp_path / "other.json"), every=True, resume=saved)
    with pytest.raises(GdlError, match="keeps solutions"):
        command(str(tmp_path / "queens.json"), count=True, resume=saved)
    changed = whole.replace('"bytes":', '"bytes":99')
    assert changed != whole
    bare = json.dumps(json.loads(changed)["body"])  # as earlier releases wrote it
    for text in ("", "{", "[]", '{"search": 1}', whole[:-2], changed, bare):
        saved.write_text(text)
        with pytest.raises(GdlError, match="has no saved search"):
            command(str(tmp_path / "queens.json"), every=True, resume=saved)


# --- Saved searches of covers with wrong contents: refused, or gone on with
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


# --- `ggp cover` of packing puzzles: told, counted, drawn, exported, gone on with
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


# --- Drawings show every piece in its place, in letters, in SVG and in space
BAR = PlacedPiece("bar", ((0, 0, 0), (1, 0, 0)), 0)
REST = PlacedPiece("<rest>", ((0, 1, 0), (1, 1, 0), (0, 0, 1), (0, 1, 1)), 1)
TWO = Packed("cubes", (BAR, REST))


def printed(packed: Packed) -> str:
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(layers(packed))
    return capture.get()


def test_layers_show_a_letter_in_each_cell_and_dots_where_nothing_is() -> None:
    text = printed(TWO)
    assert [text.count(sign + " ") for sign in "BR·"] == [2, 4, 2]
    assert "z = 0" in text and "z = 1" in text


def test_names_of_one_sign_are_their_own_letters() -> None:
    packed = Packed("cubes", (PlacedPiece("F", ((0, 0, 0),), 0), PlacedPiece("P", ((1, 0, 0),), 1)))
    assert packed.letters() == ["F", "P"]
    assert packed.legend() == ""


@given(
    st.lists(st.tuples(st.sampled_from(["bar", "corner", "boat", "piece 1", "S2", "", "7"]), st.booleans()))
)
def test_every_piece_has_a_letter_of_its_own_that_the_legend_names(kinds: list[tuple[str, bool]]) -> None:
    pieces = []
    for number, (name, again) in enumerate(kinds):
        pieces += [PlacedPiece(name, ((len(pieces) + i, 0, 0),), number) for i in range(1 + again)]
    packed = Packed("cubes", tuple(pieces))
    letters = packed.letters()
    assert len(letters) == len(pieces)
    if len(pieces) <= len(LETTERS):
        assert len(set(letters)) == len(letters)
    legend = packed.legend()
    if legend:
        named = {}
        for part in legend.split(", "):
            signs = [word for word in part.split(" ") if len(word) == 1]
            named |= dict.fromkeys(signs)
        assert set(letters) <= set(named)


def test_letters_come_from_the_names_of_pieces() -> None:
    names = ["bar", "bar", "corner", "cross", "piece 3"]
    packed = Packed("cubes", tuple(PlacedPiece(n, ((i, 0, 0),), i and i - 1) for i, n in enumerate(names)))
    assert packed.letters() == ["B", "A", "C", "R", "D"]
    assert packed.legend() == "B A bar, C corner, R cross, D piece 3"


@pytest.mark.parametrize("grid", ["cubes", "prisms", "spheres"])
def test_svg_is_well_formed_and_draws_every_cell(grid: str) -> None:
    root = ElementTree.fromstring(svg(Packed(grid, TWO.pieces)))
    drawn = [node for node in root.iter() if node.tag.endswith(("polygon", "circle"))]
    assert len(drawn) == 6
    assert {node.get("fill") for node in drawn} == {css(0), css(1)}


def test_a_line_runs_around_each_piece_and_not_through_it() -> None:
    bar = Packed("cubes", (BAR,))
    path = re.search(r'<path d="([^"]*)"', svg(bar))
    assert path is not None and path[1].count("M") == 6


@given(st.sets(st.tuples(*[st.integers(0, 2)] * 3), min_size=1))
def test_the_surface_of_cubes_is_what_has_no_neighbour(cells: set[tuple[int, int, int]]) -> None:
    faces = surface([SHAPES["cubes"](cell) for cell in cells])
    ways = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]
    free = sum((x + i, y + j, z + k) not in cells for x, y, z in cells for i, j, k in ways)
    assert len(faces) == free


def test_a_box_has_twelve_edges() -> None:
    for cells in ([(0, 0, 0)], [(x, y, z) for x in range(3) for y in range(2) for z in range(2)]):
        lines = edges(surface([SHAPES["cubes"](cell) for cell in cells]))
        length = sum(sum(abs(p - q) for p, q in zip(a, b, strict=True)) for a, b in lines)
        assert length == (12 if len(cells) == 1 else 4 * (3 + 2 + 2))


CELLS = {
    "cubes": [(0, 0, 0), (1, 0, 0), (0, 1, 2)],
    "prisms": [(0, 0, 0), (1, 0, 0), (0, 1, 2)],
    "rhombic": [
        (x, y, z)
        for x in range(5)
        for y in range(5)
        for z in range(5)
        if sorted(map(abs, (x - 2, y - 2, z - 2))) == [0, 1, 2]
    ],
    "tetra-octahedra": [(1, 1, 1), (2, 0, 0), (0, 2, 0), (0, 0, 2), (2, 2, 2)],
}


def volume(solid: Solid) -> float:
    mx, my, mz = solid.middle()
    total = 0.0
    for face in solid.faces:
        (ax, ay, az), *others = [(x - mx, y - my, z - mz) for x, y, z in (solid.corners[n] for n in face)]
        for (bx, by, bz), (cx, cy, cz) in pairwise(others):
            total += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return total / 6


@pytest.mark.parametrize("grid", ["rhombic", "tetra-octahedra"])
def test_the_cells_of_a_cube_fill_it(grid: str) -> None:
    solids = [SHAPES[grid](cell) for cell in CELLS[grid]]
    assert len(solids) == (24 if grid == "rhombic" else 5)
    assert sum(map(volume, solids)) == pytest.approx(1)
    area = surface(solids)
    assert all(any(len({p[axis] for p in face}) == 1 for axis in range(3)) for face in area)


@pytest.mark.parametrize("grid", CELLS)
def test_faces_look_outwards(grid: str) -> None:
    for cell in CELLS[grid]:
        solid = SHAPES[grid](cell)
        mx, my, mz = solid.middle()
        for face in solid.faces:
            (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (solid.corners[number] for number in face[:3])
            ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
            normal = (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)
            out = (ax - mx) * normal[0] + (ay - my) * normal[1] + (az - mz) * normal[2]
            assert out > 0


@pytest.mark.slow
def test_the_page_holds_the_pieces_and_the_moves_and_loads_nothing() -> None:
    apart = take_apart(Assembly.of([piece.cells for piece in TWO.pieces]))
    text = page("<two>", [Packed("cubes", TWO.pieces, apart)])
    assert "&lt;two&gt;" in text and "<rest>" not in text
    assert not re.search(r'(src|href)\s*=\s*"', text)
    found = re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data = orjson.loads(found[1])
    (solution,) = data["solutions"]
    assert [piece["name"] for piece in solution["pieces"]] == ["bar", "<rest>"]
    assert len(solution["frames"]) == 1 + sum(apart.level)
    assert solution["frames"][0] == [[0, 0, 0], [0, 0, 0]] != solution["frames"][-1]
    assert "@" not in text.split("<script>")[0]
