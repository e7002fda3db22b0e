"""A node searches what it is told, and says of each root what its own processes know."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from ggp.game import Game
from players.uct.tuning import Tuning
from players.uct.workers.search_host import SearchHost

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
    facts = [str(proposition) for proposition in state.propositions]
    return {"do": "think", "match": match, "number": number, "state": facts, "seconds": 600.0}


def talk(to: Callable[[SearchHost], Awaitable[None]]) -> None:
    async def run() -> None:
        host = SearchHost()
        try:
            await to(host)
        finally:
            host.close()

    asyncio.run(run())


async def known(host: SearchHost, number: int) -> tuple[list[int], int]:
    """Counts and nodes of a root, once there are some."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        answer, arrays = await host.call({"do": "read", "number": number, "seconds": 0.05}, ())
        if answer["number"] == number and answer["nodes"]:
            visits, totals, proven = arrays
            assert len(visits) == len(totals) == len(proven) == sum(answer["counts"])
            assert (totals <= visits).all() and (totals >= 0).all()
            return list(answer["counts"]), answer["nodes"]
    raise AssertionError("the node says nothing")


@pytest.mark.slow
def test_a_node_searches_one_root_after_the_other_and_tells_of_no_older_one() -> None:
    async def to(host: SearchHost) -> None:
        await host.call(start(), ())
        await host.call(think(1), ())
        assert (await known(host, 1))[0] == [9, 1]
        await host.call({**think(1), "fix": 0}, ())
        await host.call(think(2, moves=2), ())
        assert (await known(host, 2))[0] == [7, 1]
        answer, _ = await host.call({"do": "read", "number": 1, "seconds": 0}, ())
        assert answer["number"] == -1

    talk(to)


def test_a_root_that_is_solved_before_it_is_asked_for_is_told_as_well() -> None:
    async def to(host: SearchHost) -> None:
        await host.call(start(), ())
        await host.call(think(1), ())
        value, end = -1, time.monotonic() + 60
        while value < 0 and time.monotonic() < end:
            value = (await host.call({"do": "read", "number": 1, "seconds": 0.05}, ()))[0]["value"]
        assert value == 50
        await host.call({**think(1), "fix": 0}, ())
        await host.call(think(2, moves=2), ())
        assert (await known(host, 2))[0] == [7, 1]

    talk(to)


@pytest.mark.slow
def test_a_match_that_is_not_known_is_asked_for_and_another_takes_its_place() -> None:
    async def to(host: SearchHost) -> None:
        assert (await host.call(think(1), ()))[0] == {"lacks": True}
        await host.call(start("m"), ())
        await host.call(think(1, "m"), ())
        await known(host, 1)
        await host.call(start("n", role=1), ())
        assert (await host.call(think(1, "m"), ()))[0] == {"lacks": True}
        await host.call(think(1, "n"), ())
        assert (await known(host, 1))[0] == [9, 1]

    talk(to)


def test_rules_and_states_that_are_none_are_refused_and_the_next_match_is_taken() -> None:
    async def to(host: SearchHost) -> None:
        with pytest.raises(GdlError):
            await host.call(start(rules="(role"), ())
        await host.call(start(), ())
        with pytest.raises(GdlError):
            await host.call({**think(1), "state": ["(cell 1"]}, ())
        with pytest.raises(GdlError):
            await host.call({"do": "anything"}, ())
        await host.call(think(2), ())
        await known(host, 2)

    talk(to)


def test_a_node_searches_without_knowledge_in_files_that_it_does_not_have(tmp_path: Path) -> None:
    """What the player's startclock has taught ended all searches of nodes elsewhere."""
    here = tmp_path / "here.knowledge"
    here.touch()

    async def to(host: SearchHost) -> None:
        for number, (path, used) in enumerate(
            {"/nowhere/x": "off", str(here): str(here), "auto": "auto"}.items()
        ):
            tuning = Tuning(memory=1 << 22, knowledge=path, knowledge_share=1.0, looks=True)
            await host.call(start(f"m{number}", tuning=asdict(tuning)), ())
            assert host._start[2].knowledge == used
            assert (host._start[2].looks is None) == (used == "off")

    talk(to)
