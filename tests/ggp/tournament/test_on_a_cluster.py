"""Tournaments on several nodes: the same matches as here, none lost with a node, none played into the store
twice."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import GdlError
from ggp.tournament.cluster import ClusterSites
from ggp.tournament.runner import Runner
from ggp.tournament.schedule import Fixture, plan
from ggp.tournament.settings import Entrant, TournamentSettings
from ggp.tournament.sites import Sites
from ggp.tournament.store import Result, Store
from players.fleet.fleet import Fleet, FleetWorker, LostWorkerError, Message
from players.fleet.ray_fleet import RayFleet
from players.fleet.ray_nodes import LOOPBACK
from tests.ggp.tournament.small_tournaments import Silent, tournament_of
from tests.players.fleet.here import HereFleet

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray, the extra cluster, is missing"
)
SAME = (
    "moves",
    "errors",
    "states",
    "goalValues",
    "playerNamesFromHost",
    "tournamentNameFromHost",
    "isCompleted",
)


class Changing(Silent):
    """A watcher that calls back once, after so many matches."""

    def __init__(self, after: int = -1, then: Any = None) -> None:
        super().__init__()
        self._after, self._then = after, then

    def ended(self, fixture: Fixture, result: Result | None, error: str) -> None:
        super().ended(fixture, result, error)
        if len(self.ended_matches) == self._after:
            self._then()


def settings(rounds: int, players: Sequence[str]) -> TournamentSettings:
    more = {"startclock": 5.0, "playclock": 5.0, "take_turns": True, "level": "prover"}
    return tournament_of([Entrant(name, name) for name in players], rounds=rounds, **more)


def play(
    path: Path,
    rounds: int,
    watcher: Changing,
    sites: Sites | None = None,
    players: Sequence[str] = ("random", "legal"),
) -> dict[Fixture, Any]:
    """The records of a tournament, without times and what comes from them."""
    with Store(path) as store:
        asyncio.run(Runner(settings(rounds, players), store, sites=sites).run(watcher))
        records = list(store.records())
    assert not watcher.errors
    assert len(records) == len(watcher.ended_matches)
    return {fixture: {key: record[key] for key in SAME if key in record} for fixture, record in records}


def fixtures(rounds: int, players: Sequence[str] = ("random", "legal")) -> list[Fixture]:
    return list(plan({"tictactoe": 2}, players, rounds))


@pytest.mark.slow
def test_a_fleet_plays_what_this_computer_plays(tmp_path: Path) -> None:
    here = play(tmp_path / "here", 2, Changing())
    there = play(tmp_path / "there", 2, Changing(), ClusterSites(HereFleet()))
    assert here == there
    assert all("moves" in record and "goalValues" in record for record in here.values())
    assert sorted(map(str, there)) == sorted(map(str, fixtures(2)))


class _Noting(RayFleet):
    """Notes the matches that were lost."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.lost: list[str] = []

    async def call(self, worker: FleetWorker, message: Message, *more: Any) -> Any:
        try:
            return await super().call(worker, message, *more)
        except LostWorkerError:
            if message.get("do") == "play":
                self.lost.append(message["job"]["key"])
            raise


def _kill_and_add(fleet: RayFleet) -> None:
    """Kill a node that is not the head, as a power cut does, and add another."""
    victim = next(iter(fleet.cluster.worker_nodes))
    fleet.cluster.remove_node(victim, allow_graceful=False)
    fleet.cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK, include_dashboard=False, wait=False)


@pytest.mark.slow
@needs_ray
def test_a_node_is_killed_and_one_added_and_no_match_is_lost_or_played_twice(tmp_path: Path) -> None:
    rounds, slow = 4, ("legal", "tests.ggp.tournament.odd_players:Slow")  # a match takes a second
    here = play(tmp_path / "here", rounds, Changing(), players=slow)
    fleet = _Noting("local-ray:3")
    watcher = Changing(2, lambda: _kill_and_add(fleet))
    there = play(tmp_path / "there", rounds, watcher, ClusterSites(fleet), slow)
    assert fleet.lost, "the node had a match when it was killed"
    assert here == there
    assert len(watcher.ended_matches) == len(set(watcher.ended_matches)) == len(fixtures(rounds, slow))


def test_a_tournament_that_no_node_plays_ends_with_a_remedy(tmp_path: Path) -> None:
    class Empty(HereFleet):
        async def nodes(self) -> list[Any]:
            return []

    fleet: Fleet = Empty()
    with pytest.raises(GdlError, match="no node of the cluster"):
        play(tmp_path / "none", 1, Changing(), ClusterSites(fleet, alone=0.1))
