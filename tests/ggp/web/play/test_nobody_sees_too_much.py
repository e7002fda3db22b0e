"""In every game of hidden information that comes along, what the page sends to a role depends on nothing
but the role's own moves and percepts, until the match is over."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest

from gdl.information import hides
from ggp.boards.role_view import RoleSight
from ggp.game import Game
from ggp.processes.parent import Inbox
from ggp.rule_files import installed_games
from ggp.web.play.table import TableRequest
from ggp.web.play.table_process import BlindTable
from ggp.web.play.view import OUTSIDE
from tests.ggp.told import Told

HIDDEN = [path.stem for path in installed_games() if hides(Game.load(path).rules)]
LONGEST = 40
"""Steps of a match that are looked at."""


class Matches:
    """Matches at one table, people on all chairs. They move at random, mostly by the first moves of their
    lists, so that histories come again."""

    def __init__(self, name: str, seed: int = 1) -> None:
        game = Game.load(name)
        self.said: list[tuple[str, dict[str, Any]]] = []
        order = TableRequest(game, ["human"] * 8, seed=seed)
        self.table = BlindTable(order, Inbox(), lambda kind, **fields: self.said.append((kind, fields)))
        self.rng = random.Random(seed)
        self.told = Told()

    def play(self) -> None:
        """One match: notes all that is sent to each chair, by what its role has done and perceived."""
        table, told = self.table, self.told
        table._again()
        steps = 0
        while not table._revealed and steps < LONGEST:
            self._note()
            for role in table._playing:
                if role in table.match.waiting:
                    moves = table.match.options[role]
                    move = moves[min(self.rng.randrange(len(moves)), self.rng.randrange(len(moves)))]
                    chair, spelled = (
                        table._chairs[role],
                        table.machine.rules.spell(table.machine.move(role, move)),
                    )
                    table._obey({"do": "move", "role": table.roles[role], "move": spelled, "chair": chair})
                    self._note()
            if not table._revealed:
                table._turn()
            steps += 1
        if not table._revealed:
            table._obey({"do": "keep", "form": "record", "chair": OUTSIDE})
            kind, fields = self.said[-1]
            told.note(kind, OUTSIDE, "before the end", orjson.dumps(fields), table.match.state.key)
        self.said.clear()

    def _note(self) -> None:
        """What has been said since the last time."""
        table = self.table
        histories = {
            table._chairs[role]: (tuple(belief.history), role in table.match.choices)
            for role, belief in table._beliefs.items()
        }
        for kind, fields in self.said:
            chair = fields["to"]
            if kind == "state" and fields["blind"]["over"]:
                continue  # the match is over: all is told
            learnt = len(table.match.steps) if chair == OUTSIDE else histories[chair]
            self.told.note(kind, chair, learnt, orjson.dumps(fields), table.match.state.key)
        self.said.clear()


@pytest.mark.slow
@pytest.mark.parametrize("name", HIDDEN)
def test_two_histories_that_are_the_same_to_a_role_get_the_same_bytes_from_the_page(name: str) -> None:
    matches = Matches(name)
    count = 3 if name in ("mastermind", "battleships") else 12
    for _ in range(count):
        matches.play()
    assert matches.told.compared > 0
    assert matches.told.differences == []


def test_a_page_that_told_the_truth_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    matches = Matches("kuhn")
    table = matches.table
    seen = table._seen

    def truthful(before: dict[int, RoleSight]) -> dict[int, RoleSight]:
        for sight in (sights := seen(before)).values():
            sight.shown["svg"] = table.match.state.to_kif()
        return sights

    for _ in range(30):
        matches.play()
    assert matches.told.compared > 30 and not matches.told.differences
    monkeypatch.setattr(table, "_seen", truthful)
    matches.told = Told()
    for _ in range(30):
        matches.play()
    assert matches.told.differences
