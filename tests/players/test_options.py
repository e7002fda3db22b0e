"""Options are declared once: from that come their values, their defaults and their help text."""

from __future__ import annotations

import pytest

from gdl.errors import GdlError
from players.montecarlo import MonteCarloPlayer
from players.options import (
    Option,
    at_least,
    between,
    number_between,
    one_of,
    read_options,
    switch,
)

OPTIONS = (
    Option("depth", int, 3, "moves to look ahead"),
    Option("style", one_of(("bold", "shy")), None, "how it plays"),
    Option("think", switch, True, "whether it thinks"),
)


def test_texts_become_values() -> None:
    texts = [("depth", "1"), ("style", "shy"), ("think", "No"), ("depth", "5")]
    assert read_options("x", OPTIONS, texts, "x") == {"depth": 5, "style": "shy", "think": False}


@pytest.mark.parametrize(
    ("name", "text"), [("depth", "deep"), ("style", "odd"), ("think", "2"), ("width", "1")]
)
def test_bad_texts_are_refused(name: str, text: str) -> None:
    with pytest.raises(GdlError, match=name):
        read_options("x", OPTIONS, [(name, text)], "x")


def test_constructors_take_options_and_know_the_defaults() -> None:
    assert MonteCarloPlayer(playouts=4).options == {"playouts": 4}
    assert MonteCarloPlayer().options == {"playouts": None}
    with pytest.raises(TypeError, match="depth"):
        MonteCarloPlayer(depth=4)


def test_an_option_is_closed_to_strangers_until_it_is_declared_public() -> None:
    shared = Option("share", at_least(0), 0, "open, within bounds", public=between(0, 10))
    own = Option("own", at_least(0), 0, "the operator's")
    assert read_options("x", (shared, own), [("share", "10")], "x", public=True) == {"share": 10}
    assert read_options("x", (shared, own), [("share", "11"), ("own", "1")], "x") == {"share": 11, "own": 1}
    with pytest.raises(GdlError, match="a whole number from 0 to 10"):
        read_options("x", (shared, own), [("share", "11")], "x", public=True)
    with pytest.raises(GdlError, match="for the operator alone"):
        read_options("x", (shared, own), [("own", "1")], "x", public=True)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "-0.1", "1.1", "", "0x1", "1" * 5000])
def test_numbers_outside_their_bounds_are_no_values(text: str) -> None:
    for reader in (number_between(0.0, 1.0), between(0, 1), at_least(2)):
        with pytest.raises(ValueError, match="number from"):
            reader(text)
