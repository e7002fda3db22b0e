"""``ggp ground`` prints rules that can be read back, and counts."""

from __future__ import annotations

import pytest

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from ggp.commands.rules.ground import command
from ggp.game import Game


def test_the_printed_rules_ground_to_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    command("tictactoe")
    printed = capsys.readouterr().out
    assert "?" not in printed
    original = ground(Game.load("tictactoe").rules)
    again = ground(parse_rules(printed))
    assert again.roles == original.roles
    assert again.bases == original.bases
    assert again.moves == original.moves
    assert len(again.heads) == len(original.heads)
    assert again.initial.tolist() == original.initial.tolist()


def test_counts_come_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    command("tictactoe", stats=True)
    assert "base_propositions" in capsys.readouterr().out
