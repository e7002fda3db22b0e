"""What the tree costs is told by parts that make up most of the time, and beside the raw playouts."""

from __future__ import annotations

from bench.duel import tuning_of
from bench.tree import measure, summary
from ggp.game import Game
from players.kaskade.guided_machine import guided
from propnet.native.machine import NativeMachine


def test_the_parts_of_a_search_make_up_most_of_its_time() -> None:
    native = Game.load("connectfour").machine("native")
    assert isinstance(native, NativeMachine)
    machine = guided(native)
    few, many = (measure(machine, tuning_of(text), 0.3, 1) for text in ("-", "per_leaf=32"))
    for cost in (few, many):
        assert cost.visits > 0
        assert cost.playouts >= cost.visits
        assert all(part >= 0.0 for part in cost.parts.values())
        assert 0.3 < sum(cost.parts.values()) <= 1.001
        assert 0.0 < cost.share < 1.5
    assert many.playouts / many.visits > few.playouts / few.visits
    line = summary("-", [few, few], [few, few])
    assert "(x1.00)" in line
    assert "playouts" in line
