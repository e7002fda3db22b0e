"""A player with a cluster has more searched, and answers with a legal move whatever happens to the nodes."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from ggp.game import Game
from players.fleet.open_fleet import standing
from players.uct.player import UctPlayer
from players.uct.workers.pool import Pool
from tests.waiting import until


def machine() -> Machine:
    return ProverMachine(Game.load("connectfour").rules)


@contextmanager
def playing(**options: object) -> Iterator[UctPlayer]:
    player = UctPlayer(seed=1, **options)
    fast = machine()
    try:
        player.start(fast, 0, fast.initial_state(), 0.2, time.monotonic() + 0.2)
        yield player
    finally:
        player.stop()


def turn(player: UctPlayer) -> None:
    """A turn at the first state; the answer is legal and people can read it."""
    state = player.machine.initial_state()
    choice = player.choose(state, time.monotonic() + 0.4)
    assert choice.move in player.machine.legal_moves(state, 0)
    assert "a cluster" in choice.note or not choice.candidates


def pool(player: UctPlayer) -> Pool:
    assert player._pool is not None
    return player._pool


def told(player: UctPlayer) -> bool:
    """Whether the cluster has searched the root."""
    turn(player)
    return any(known.playouts for known in pool(player).read())


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray, the extra cluster, is missing")
def test_a_relay_that_dies_is_begun_anew() -> None:
    with standing("local-ray:1") as address, playing(cluster=address) as player:
        until(lambda: told(player))
        os.kill(pool(player).pids[0], signal.SIGKILL)
        until(lambda: told(player))


def test_a_cluster_that_cannot_be_reached_is_told_of_and_the_player_searches_alone() -> None:
    news: list[str] = []
    with playing(cluster="127.0.0.2:1") as player:
        player.found_out = news.append
        for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
            assert not os.environ.get(name)
        until(lambda: told(player) or any("cluster" in text for text in news))
        assert any("Ray" in text or "token" in text for text in news)
        choice = player.choose(player.machine.initial_state(), time.monotonic() + 0.4)
        assert choice.candidates, "it has searched in its own process"
