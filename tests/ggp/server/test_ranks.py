"""Standbys that are asked go before standbys that play at random, and before the thinking of others."""

from __future__ import annotations

from typing import cast

import pytest

from ggp.server.admission import Ranks
from ggp.server.supervised_process import SupervisedProcess
from ggp.server.turn import Turn
from players.processes.limits import BEHIND, USUAL, WAITS


class Process:
    """A process that is ranked."""

    def __init__(self) -> None:
        self.alive, self.heard, self.nice = True, 0, USUAL

    def rank(self, nice: int) -> None:
        self.nice = nice


class Asked:
    """A turn that was asked for."""

    def __init__(self, number: int) -> None:
        self.id, self.answered = number, False


def ranked() -> tuple[Ranks, Process, Process]:
    main, standby = Process(), Process()
    both = Ranks(cast(SupervisedProcess, main), cast(SupervisedProcess, standby))
    return both, main, standby


def test_a_standby_that_plays_at_random_waits_until_it_is_asked_and_again_when_it_has_answered() -> None:
    ranks, _, standby = ranked()
    ranks.practises(True, None)
    assert standby.nice == WAITS
    turn = Asked(1)
    ranks.asked(cast(Turn, turn))
    assert standby.nice == USUAL
    standby.heard = 1
    ranks.asked(cast(Turn, turn))
    assert standby.nice == WAITS
    ranks.practises(False, cast(Turn, turn))
    assert standby.nice == USUAL


@pytest.mark.parametrize(
    ("alive", "behind", "rests", "nice"),
    [
        (True, True, False, WAITS),
        (True, True, True, BEHIND),
        (False, True, True, USUAL),
        (True, False, True, USUAL),
    ],
)
def test_thinking_waits_where_there_is_a_standby_and_rests_where_one_has_no_move(
    alive: bool, behind: bool, rests: bool, nice: int
) -> None:
    ranks, main, standby = ranked()
    standby.alive = alive
    ranks.thinks(behind, rests)
    assert main.nice == nice
