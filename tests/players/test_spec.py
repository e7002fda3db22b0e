"""Names of players: what is written comes back, faults are told with their column."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from players.options import PlayerSpec, read_names, read_spec

WORDS = st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True)
VALUES = st.from_regex(r"[A-Za-z0-9_./:@=-]{0,8}", fullmatch=True)
SPECS = st.builds(PlayerSpec, WORDS, st.lists(st.tuples(WORDS, VALUES), max_size=4).map(tuple))
BLANKS = st.text(" \t", max_size=2)


@given(SPECS, st.data())
def test_a_name_comes_back_whatever_the_blanks(spec: PlayerSpec, data: st.DataObject) -> None:
    def blank() -> str:
        return data.draw(BLANKS)

    options = f"{blank()},{blank()}".join(f"{key}{blank()}={blank()}{value}" for key, value in spec.options)
    text = f"{blank()}{spec.kind}{blank()}" + (f":{blank()}{options}{blank()}" if options else "")
    assert read_spec(text) == spec
    assert read_spec(str(spec)) == spec


@given(st.lists(SPECS, max_size=5))
def test_a_list_is_told_apart_where_names_begin(specs: list[PlayerSpec]) -> None:
    # A value that ends in what looks like a name of its own cannot be told from one.
    assert read_names(", ".join(map(str, specs))) == list(map(str, specs))


def test_lists_as_people_write_them() -> None:
    assert read_names("uct:playouts=1,memory=2, random,,greedy") == [
        "uct:playouts=1,memory=2",
        "random",
        "greedy",
    ]
    assert read_names("") == []
    assert read_names("montecarlo:playouts=1,uct:memory=3") == ["montecarlo:playouts=1", "uct:memory=3"]
    assert read_names("old@http://host:9147, my.module:Player,one@legal,") == [
        "old@http://host:9147",
        "my.module:Player",
        "one@legal",
    ]
    assert read_names("my uct@uct:workers=1,exploration=0.4") == ["my uct@uct:workers=1,exploration=0.4"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uct:workers", r"'uct:workers', column 12: expected '=', found the end"),
        ("uct:workers=1,x", r"column 16: expected '=', found the end"),
        ("uct:=1", r"column 5: expected .*found '='"),
        (":workers=1", r"column 1: expected a player's name, found ':'"),
        ("uct workers=1", r"column 5: expected .*found 'workers'"),
        ("x=" * 5_001, r"more than 10,000 characters"),
    ],
)
def test_faults_are_told_with_their_column(text: str, message: str) -> None:
    with pytest.raises(GdlError, match=message) as error:
        read_spec(text)
    assert "\n" not in str(error.value)


def test_faults_in_lists_are_told_with_their_column() -> None:
    with pytest.raises(GdlError, match=r"column 15: expected .*, found '='"):
        read_names("random,workers=2")


@given(st.text("uctrandom:=,@/. \t()\n\x00", max_size=20))
def test_any_text_is_read_or_told(text: str) -> None:
    for read in (read_spec, read_names):
        with contextlib.suppress(GdlError):
            read(text)
