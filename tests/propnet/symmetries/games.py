"""Games and their groups, made once for all tests here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.pipeline import ground
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from propnet.build import build
from propnet.network import Network
from propnet.symmetries.group import Renaming, automorphisms


@dataclass(frozen=True)
class Game:
    """A game, its network, and its automorphisms."""

    rules: Rules
    ground: GroundRules
    network: Network
    group: list[Renaming]


FOUR_BY_FOUR = (
    "(four_columns b c d e)",
    "(four_columns c d e f)",
    "(four_columns d e f g)",
    "(four_rows 2 3 4 5)",
    "(four_rows 3 4 5 6)",
    "(column e)",
    "(column f)",
    "(column g)",
    "(next_row 4 5)",
    "(next_row 5 6)",
)
"""What makes connect four larger than 4x4."""


@cache
def game_of(path: Path, without: tuple[str, ...] = ()) -> Game:
    """The game in a file, without some of its lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for line in without:
        lines.remove(line)
    return game_of_text("\n".join(lines))


def game_of_text(text: str) -> Game:
    """The game of these rules."""
    rules = parse_rules(text)
    grounded = ground(rules)
    network = build(grounded)
    return Game(rules, grounded, network, automorphisms(network, grounded))
