"""The isometries of each grid are what they should be, and what touches what follows them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.cover.packing.grids import GRIDS, CellGrid, grid
from players.puzzles.cover.problem import CoverError
from tests.players.puzzles.cover.packing.plain_search import neighbours

ROTATIONS = {"cubes": 24, "prisms": 12, "spheres": 120, "rhombic": 24, "tetra-octahedra": 24}
NEIGHBOURS = {"cubes": {6}, "prisms": {5}, "spheres": {12}, "rhombic": {4}, "tetra-octahedra": {4}}
GROUPS = [each for each in GRIDS if each.closed]


def cells_of(each: CellGrid, reach: int = 6) -> np.ndarray:
    line = np.arange(-reach, reach + 1)
    box = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    return box[each.valid(box)]


def by_name(each: CellGrid) -> str:
    return each.name


@pytest.mark.parametrize("each", GRIDS, ids=by_name)
def test_isometries_are_distinct_and_half_of_them_rotations(each: CellGrid) -> None:
    assert each.rotations == ROTATIONS[each.name]
    assert len(np.unique(each.matrices.reshape(-1, 9), axis=0)) == len(each.matrices)
    unit = each.denominator**3
    determinants = np.rint(np.linalg.det(each.matrices.astype(float))).astype(int)
    assert determinants.tolist() == [unit] * each.rotations + [-unit] * each.rotations
    assert (each.matrices[0] == each.denominator * np.eye(3)).all()


@pytest.mark.parametrize("each", GROUPS, ids=by_name)
def test_isometries_are_a_group(each: CellGrid) -> None:
    members = {tuple(matrix.ravel()) for matrix in each.matrices}
    products = each.matrices[:, None] @ each.matrices[None]
    assert not (products % each.denominator).any()
    assert {tuple(row) for row in (products // each.denominator).reshape(-1, 9)} == members


def test_all_grids_but_spheres_have_groups() -> None:
    assert [each.name for each in GRIDS if not each.closed] == ["spheres"]


def test_the_isometries_of_spheres_hold_those_of_cubes() -> None:
    spheres, cubes = grid("spheres"), grid("cubes")
    members = {tuple(matrix.ravel()) for matrix in spheres.matrices}
    assert {tuple(3 * matrix.ravel()) for matrix in cubes.matrices} < members
    assert all(tuple(matrix.T.ravel()) in members for matrix in spheres.matrices)


@pytest.mark.parametrize("each", GRIDS, ids=by_name)
def test_neighbours_are_mutual_and_of_the_right_number(each: CellGrid) -> None:
    cells = cells_of(each, 3)
    beside = {tuple(c): {tuple(n) for n in neighbours(each, tuple(c)).tolist()} for c in cells.tolist()}
    assert {len(near) for near in beside.values()} == NEIGHBOURS[each.name]
    for cell, near in beside.items():
        assert each.valid(np.array(sorted(near))).all()
        assert all(cell in beside[other] for other in near & beside.keys())


@pytest.mark.parametrize("each", GROUPS, ids=by_name)
def test_isometries_map_cells_to_cells_and_neighbours_to_neighbours(each: CellGrid) -> None:
    cells = cells_of(each, 4)
    middle = tuple(cells[len(cells) // 2].tolist())
    near = np.concatenate([[middle], neighbours(each, middle)])
    for number in range(len(each.matrices)):
        turned = each.turned(cells, number)
        assert turned is not None and each.valid(turned).all()
        assert len(np.unique(turned, axis=0)) == len(cells)
        star = each.turned(near, number)
        assert star is not None
        around = {tuple(c) for c in neighbours(each, tuple(star[0].tolist())).tolist()}
        assert around == {tuple(c) for c in star[1:].tolist()}


@pytest.mark.parametrize("each", GRIDS, ids=by_name)
@given(data=st.data())
def test_settled_cells_forget_translations_and_order(each: CellGrid, data: st.DataObject) -> None:
    cells = cells_of(each, 3)
    some = data.draw(st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=8, unique=True))
    shape = cells[some]
    steps = each.homes(cells_of(each, 9))
    step = steps[data.draw(st.integers(0, len(steps) - 1))]
    assert each.valid(shape + step).all()
    settled, order = each.settled(shape)
    again, _ = each.settled((shape + step)[::-1])
    assert (settled == again).all()
    assert (each.homes(settled[:1]) == 0).all()
    assert len(np.unique(settled - shape[order], axis=0)) == 1


def test_an_unknown_grid_is_named_with_what_there_is() -> None:
    with pytest.raises(CoverError, match="hexagons") as caught:
        grid("hexagons")
    assert "prisms" in str(caught.value)
