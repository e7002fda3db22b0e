"""A node searches the newest target it was told; a player with a cluster answers whatever nodes do."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from ggp.game import Game
from players.fleet.fleet import Arrays, FleetNode, FleetWorker, LostWorkerError, Message
from players.fleet.open_fleet import standing
from players.uct.player import UctPlayer
from players.uct.tuning import Tuning
from players.uct.workers.pool import Pool
from players.uct.workers.relay import NodeLink, SearchTarget
from players.uct.workers.search_host import SearchHost
from tests.players.fleet.here import HereFleet
from tests.waiting import until

GAME = Game.load("tictactoe")
MACHINE = ProverMachine(GAME.rules)


def start(match: str = "m", **change: object) -> dict[str, object]:
    told = {"role": 0, "seed": 1, "tuning": asdict(Tuning(memory=1 << 22)), "workers": 1, "rules": GAME.text}
    return {"do": "start", "match": match, **told, **change}


def think(number: int, match: str = "m", moves: int = 0) -> dict[str, object]:
    state = MACHINE.initial_state()
    for _ in range(moves):
        joint = [MACHINE.legal_moves(state, role)[0] for role in range(2)]
        state = MACHINE.next_state(state, joint)
    facts = " ".join(map(str, state.propositions))
    return {"do": "think", "match": match, "number": number, "state": facts, "seconds": 600.0}


class Node:
    """A host of searches that is asked one thing after the other."""

    def __init__(self) -> None:
        self.host = SearchHost()
        self.runner = asyncio.Runner()

    def ask(self, message: dict[str, object]) -> tuple[dict[str, Any], Sequence[Any]]:
        return self.runner.run(self.host.call(message, ()))

    def read(self, number: int, seconds: float = 0.05) -> tuple[dict[str, Any], Sequence[Any]]:
        return self.ask({"do": "read", "number": number, "seconds": seconds})

    def counts(self, number: int) -> list[int]:
        """The moves of each role at a root, once it has been searched."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            answer, arrays = self.read(number)
            if answer["number"] == number and answer["nodes"]:
                visits, totals, proven = arrays
                assert len(visits) == len(totals) == len(proven) == sum(answer["counts"])
                assert (totals <= visits).all() and (totals >= 0).all()
                return list(answer["counts"])
        raise AssertionError("the node says nothing")


@pytest.fixture
def node() -> Iterator[Node]:
    made = Node()
    yield made
    made.host.close()
    made.runner.close()


@pytest.mark.slow
def test_a_node_searches_one_root_after_the_other_and_tells_of_no_older_one(node: Node) -> None:
    node.ask(start())
    node.ask(think(1))
    assert node.counts(1) == [9, 1]
    node.ask({**think(1), "fix": 0})
    node.ask(think(2, moves=2))
    assert node.counts(2) == [7, 1]
    assert node.read(1, 0)[0]["number"] == -1


def test_a_root_that_is_solved_before_it_is_asked_for_is_told_as_well(node: Node) -> None:
    node.ask(start())
    node.ask(think(1))
    value, end = -1, time.monotonic() + 60
    while value < 0 and time.monotonic() < end:
        value = node.read(1)[0]["value"]
    assert value == 50
    node.ask({**think(1), "fix": 0})
    node.ask(think(2, moves=2))
    assert node.counts(2) == [7, 1]


@pytest.mark.slow
def test_a_match_that_is_not_known_is_asked_for_and_another_takes_its_place(node: Node) -> None:
    assert node.ask(think(1))[0] == {"lacks": True}
    node.ask(start("m"))
    node.ask(think(1, "m"))
    node.counts(1)
    node.ask(start("n", role=1))
    assert node.ask(think(1, "m"))[0] == {"lacks": True}
    node.ask(think(1, "n"))
    assert node.counts(1) == [9, 1]


def test_rules_and_states_that_are_none_are_refused_and_the_next_match_is_taken(node: Node) -> None:
    with pytest.raises(GdlError):
        node.ask(start(rules="(role"))
    node.ask(start())
    for wrong in ({**think(1), "state": "(cell 1"}, {"do": "anything"}):
        with pytest.raises(GdlError):
            node.ask(wrong)
    node.ask(think(2))
    node.counts(2)


def test_a_node_searches_without_knowledge_in_files_that_it_does_not_have(tmp_path: Path, node: Node) -> None:
    """What the player's startclock has taught ended all searches of nodes elsewhere."""
    here = tmp_path / "here.knowledge"
    here.touch()
    for number, (path, used) in enumerate(
        {"/nowhere/x": "off", f"{here}": f"{here}", "auto": "auto"}.items()
    ):
        tuning = Tuning(memory=1 << 22, knowledge=path, knowledge_share=1.0, looks=True)
        node.ask(start(f"m{number}", tuning=asdict(tuning)))
        assert node.host._start[2].knowledge == used
        assert (node.host._start[2].looks is None) == (used == "off")


# --- A node is told the newest target, whatever it missed; what it says of older roots counts for nothing
NODE = FleetNode("n", "here", 3)
WORKER = FleetWorker(NODE, "a search", None)
START = {"match": "m", "seed": 5, "rules": "(role a)"}
TARGET = SearchTarget(START, 1, "p", time.monotonic() + 9)


class Script(HereFleet):
    """A fleet whose one worker hangs, refuses or goes, as the test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Message] = []
        self.hangs = asyncio.Event()
        self.hangs.set()  # set: it does not
        self.error: Exception | None = None
        self.match = ""
        self.root = 0

    async def call(
        self, worker: FleetWorker, message: Message, arrays: Arrays = ()
    ) -> tuple[Message, list[Any]]:
        self.calls.append(message)
        await self.hangs.wait()
        if self.error:
            raise self.error
        match message["do"]:
            case "start":
                self.match = message["match"]
                return {}, []
            case "think":
                if message["match"] != self.match:
                    return {"lacks": True}, []
                self.root = message["number"]
                return {}, []
        await asyncio.sleep(0.01)
        if message["number"] != self.root:
            return {"number": -1}, []
        told = {"counts": [2], "playouts": 7, "nodes": 3, "depth": 2, "value": -1, "mixed": False}
        arrays = [np.array([4, 3]), np.array([2.0, 1.0]), np.array([-1, -1], np.int16)]
        return {"number": self.root, "lines": [[90, "a b"]], **told}, list(arrays)


def run(talk: Callable[[Script, NodeLink, list[Any]], Any], kind: type[Script] = Script) -> None:
    async def begin() -> None:
        fleet, lines = kind(), []  # type: ignore[var-annotated]
        link = NodeLink(fleet, WORKER, 2, lambda *line: lines.append(line))
        task = asyncio.create_task(link.run())
        try:
            async with asyncio.timeout(30):
                await talk(fleet, link, lines)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, GdlError):
                await task

    asyncio.run(begin())


async def comes(true: Callable[[], object]) -> None:
    while not true():
        await asyncio.sleep(0.01)


def test_a_node_that_lacks_the_match_is_told_of_it_and_answers() -> None:
    async def talk(fleet: Script, link: NodeLink, lines: list[Any]) -> None:
        link.set(TARGET)
        await comes(lambda: link.known)
        assert link.known is not None and link.known[0] == 1
        assert link.known[1].visits.tolist() == [4, 3] and link.known[1].playouts == 7
        start = next(message for message in fleet.calls if message["do"] == "start")
        assert start["workers"] == 3 and start["seed"] != START["seed"]
        assert (1, 90, "a b") in lines
        fleet.match = ""  # it was begun anew
        link.set(replace(TARGET, number=2))
        await comes(lambda: link.known and link.known[0] == 2)
        assert [m["do"] for m in fleet.calls].count("start") == 2

    run(talk)


def test_a_node_that_hangs_is_told_the_newest_target_when_it_goes_on() -> None:
    async def talk(fleet: Script, link: NodeLink, lines: list[Any]) -> None:
        link.set(TARGET)
        await comes(lambda: link.known)
        fleet.hangs.clear()
        await asyncio.sleep(0.2)
        before = len(fleet.calls)
        for number in range(2, 50):
            link.set(replace(TARGET, number=number))
            await asyncio.sleep(0.005)
        assert len(fleet.calls) <= before + 2, "calls to a silent node pile up"
        assert link.known is not None and link.known[0] == 1
        fleet.hangs.set()
        await comes(lambda: link.known and link.known[0] == 49)

    run(talk)


def test_a_refusal_is_told_and_tried_again_and_a_loss_ends_the_link() -> None:
    async def begin() -> None:
        fleet = Script()
        link = NodeLink(fleet, WORKER, 0, lambda *line: None)
        task = asyncio.create_task(link.run())
        fleet.error = GdlError("no such rules")
        link.set(TARGET)
        async with asyncio.timeout(30):
            await comes(lambda: link.fault)
            assert "no such rules" in link.fault
            fleet.error = LostWorkerError("gone")
            link.set(TARGET)
            with pytest.raises(LostWorkerError):
                await task

    asyncio.run(begin())


def test_statistics_that_do_not_fit_together_are_refused() -> None:
    class Odd(Script):
        async def call(self, *told: Any, **more: Any) -> tuple[Message, list[Any]]:
            answer, arrays = await super().call(*told, **more)
            return answer, [array[:1] for array in arrays]

    async def talk(fleet: Script, link: NodeLink, lines: list[Any]) -> None:
        link.set(TARGET)
        await comes(lambda: link.fault)
        assert "is inconsistent" in link.fault
        assert link.known is None

    run(talk, Odd)


# --- A player with a cluster has more searched, and answers with a legal move whatever happens to the nodes
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
