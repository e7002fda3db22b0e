"""Machines that tests ask for in one word."""

from __future__ import annotations

from gdl.grounding.pipeline import ground
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from propnet.build import build
from propnet.machine import PropnetMachine


def network(game: str | Rules) -> PropnetMachine:
    """The network of one of our games by its name, of a text of rules, or of rules; nothing is compiled."""
    if isinstance(game, str):
        game = parse_rules(game, "a test") if "(" in game else Game.load(game).rules
    grounded = ground(game)
    machine = PropnetMachine(game, build(grounded))
    machine.ground = grounded
    return machine
