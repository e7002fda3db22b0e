"""Assemblies come apart with the fewest moves, as a plain search over all single steps finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.truth.disassembly import Cell, box, replay, separation
from players.puzzles.cover.packing import disassembly
from players.puzzles.cover.packing.disassembly import (
    CUBES,
    PRISMS,
    Assembly,
    AssemblyError,
    TooManyArrangementsError,
    separate,
    straight,
    take_apart,
)
from tests.examples import examples


@st.composite
def assemblies(draw: st.DrawFn) -> list[set[Cell]]:
    """A small box whose cells are dealt out among two to four pieces, some left empty."""
    cells = sorted(box(draw(st.integers(2, 3)), draw(st.integers(2, 3)), draw(st.integers(1, 2))))
    count = draw(st.integers(2, 3))
    owners = draw(st.lists(st.integers(-1, count - 1), min_size=len(cells), max_size=len(cells)))
    pieces = [{cell for cell, owner in zip(cells, owners, strict=True) if owner == i} for i in range(count)]
    pieces = [piece for piece in pieces if piece]
    return pieces or [{(0, 0, 0)}]


@examples(60)
@given(assemblies())
def test_the_first_separation_takes_the_fewest_moves(pieces: list[set[Cell]]) -> None:
    assembly = Assembly.of([sorted(piece) for piece in pieces])
    told = take_apart(assembly)
    true = separation(pieces)
    assert (len(told.steps) or None) == (true and true[0])
    assert replay(assembly, told)


def test_a_cube_in_a_cage_never_comes_out() -> None:
    cage = sorted(box(3, 3, 3) - {(1, 1, 1)})
    told = take_apart(Assembly.of([cage, [(1, 1, 1)]]))
    assert told.apart is False and told.level == ()


def test_pieces_of_one_group_may_stay_together() -> None:
    cage = sorted(box(3, 3, 3) - {(1, 1, 1)})
    kept = Assembly.of([cage, [(1, 1, 1)]], groups=[frozenset({1}), frozenset({1, 2})])
    assert take_apart(kept).apart is True


def test_a_bolt_must_go_before_what_it_holds() -> None:
    # A bar in a channel along x, closed at both ends, held by a bolt from above.
    bar = [(1, 1, 1), (2, 1, 1)]
    bolt = [(1, 1, 2)]
    frame = sorted(box(4, 3, 3) - set(bar) - set(bolt) - {(2, 1, 2)})
    told = take_apart(Assembly.of([frame, bar, bolt]))
    assert told.apart is True
    assert told.level == (1, 1)
    assert replay(Assembly.of([frame, bar, bolt]), told)


def test_ways_may_be_slanted() -> None:
    slanted = straight([(1, 1, 0), (1, -1, 0)])
    held = [[(0, 0, 0), (2, 0, 0), (0, 2, 0), (2, 2, 0)], [(1, 1, 0)]]
    assert take_apart(Assembly.of(held, slanted)).apart is False
    assert take_apart(Assembly.of(held, CUBES)).apart is True


def test_a_prism_slides_through_its_neighbours_only() -> None:
    # Of a ring of six triangles around a point each goes out where its own corner points from.
    ring = [[(0, 0, 0)], [(1, 0, 0)], [(2, 0, 0)], [(0, 1, 0)], [(1, 1, 0)], [(2, 1, 0)]]
    assert len(take_apart(Assembly.of(ring, PRISMS)).level) == 5
    # A triangle between two others in a row: out along an edge, not along the row.
    row = [[(0, 0, 0), (2, 0, 0)], [(1, 0, 0)]]
    told = take_apart(Assembly.of(row, PRISMS))
    assert told.level == (1,) and told.steps[0].way != (2, 0, 0)
    # All six around, and above and below: held.
    shell = [(x, y, 0) for x in range(-2, 5) for y in range(-2, 4) if (x, y) != (1, 0)]
    caps = [(x, y, z) for x, y, _ in [*shell, (1, 0, 0)] for z in (-1, 1)]
    assert take_apart(Assembly.of([shell + caps, [(1, 0, 0)]], PRISMS)).apart is False


def test_too_many_arrangements_are_not_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    bars = [[(x, y, 0)] for x in range(3) for y in range(3)]
    frame = sorted(box(5, 5, 3))
    inside = [[(x + 1, y + 1, z + 1) for x, y, z in bar] for bar in bars[:-2]]
    taken = {cell for bar in inside for cell in bar} | {(2, 3, 1), (3, 3, 1), (3, 2, 1)}
    held = Assembly.of([sorted(set(frame) - taken), *inside])  # type: ignore[list-item]
    monkeypatch.setattr(disassembly, "MOST_PLACES", 1)
    with pytest.raises(TooManyArrangementsError):
        separate(held)
    assert take_apart(held).apart is None


def test_what_cannot_be_an_assembly_is_refused() -> None:
    for pieces in ([], [[]], [[(0, 0, 0)], [(0, 0, 0)]], [[(0, 0, i)] for i in range(65)]):
        with pytest.raises(AssemblyError) as error:
            Assembly.of(pieces)
        assert error.value.remedy
