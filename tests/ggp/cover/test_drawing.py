"""Drawings show every piece in its place, in letters, in SVG and in space."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ggp.cover.drawings import SHAPES, Solid, edges, page, surface, svg
from ggp.cover.packed import LETTERS, Packed, PlacedPiece, css, layers
from players.puzzles.cover.packing.disassembly import Assembly, take_apart

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
