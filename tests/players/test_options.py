"""Options are declared once: from that come their values, their defaults and their help text."""

from __future__ import annotations

import pytest

from gdl.errors import GdlError
from players.baselines.montecarlo import MonteCarloPlayer
from players.options import Option, describe_options, one_of, read_options, switch

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


def test_help_names_each_option_and_its_default() -> None:
    assert describe_options(OPTIONS).splitlines() == [
        "depth  moves to look ahead [default: 3]",
        "style  how it plays",
        "think  whether it thinks [default: yes]",
    ]
    assert describe_options(()) == ""


def test_constructors_take_options_and_know_the_defaults() -> None:
    assert MonteCarloPlayer(playouts=4).options == {"playouts": 4}
    assert MonteCarloPlayer().options == {"playouts": None}
    with pytest.raises(TypeError, match="depth"):
        MonteCarloPlayer(depth=4)
