"""Our chess moves are UCI's, and an engine that is not installed is reported."""

from __future__ import annotations

import pytest

from bench import stockfish
from bench.stockfish import StockfishAnchor, missing, play_chess, to_uci
from gdl.errors import GdlError
from gdl.syntax.parser import parse_term
from gdl.terms import Term
from ggp.game import Game


@pytest.mark.parametrize(
    ("role", "move", "uci"),
    [
        ("white", "(move e 2 e 4)", "e2e4"),
        ("black", "(castle queenside)", "e8c8"),
        ("white", "(promote b 7 a 8 knight)", "b7a8n"),
    ],
)
def test_chess_moves_are_spelt_in_uci(role: str, move: str, uci: str) -> None:
    assert to_uci(Term(role), parse_term(move)) == uci


def test_without_the_engine_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stockfish, "_program", lambda: None)
    assert "apt-get install stockfish" in missing() or "pip install chess" in missing()
    with pytest.raises(GdlError, match="not installed"):
        StockfishAnchor(nodes=1)


@pytest.mark.skipif(bool(missing()), reason=missing() or "it is installed")
def test_a_match_against_the_engine_is_played_by_the_same_rules() -> None:
    machine = Game.load("chess").machine("propnet")
    with StockfishAnchor(nodes=1) as engine:
        assert play_chess(machine, "random", 0.1, engine, 2).games == 2
