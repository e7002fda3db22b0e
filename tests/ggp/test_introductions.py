"""Before a match players are asked who they are; who cannot play is found then."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ggp import introductions
from ggp.introductions import make_distinct, meet
from ggp.manager import parse_players
from tests.ggp.puppets import Puppet, decent
from tests.places import ROOT


def test_players_are_asked_for_their_names() -> None:
    async def run() -> list[str]:
        async with Puppet(decent) as puppet:
            players = parse_players(f"127.0.0.1:{puppet.port},random")
            assert await meet(players) == []
            return [player.name for player in players]

    assert asyncio.run(run()) == ["Puppet", "random"]


def test_players_that_are_called_alike_get_names_of_their_own() -> None:
    async def run() -> tuple[list[str], list[int]]:
        async with Puppet(decent) as first, Puppet(decent) as second:
            places = f"127.0.0.1:{first.port},random,127.0.0.1:{second.port},127.0.0.1:{first.port},random"
            players = parse_players(places)
            assert await meet(players) == []
            make_distinct(players)
            return [player.name for player in players], [first.port, second.port]

    names, (one, other) = asyncio.run(run())
    assert names == [
        f"Puppet at 127.0.0.1:{one}",
        "random",
        f"Puppet at 127.0.0.1:{other}",
        f"Puppet at 127.0.0.1:{one} (2)",
        "random (2)",
    ]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("( ( name Puppet ) ( status busy ) )", "Puppet at ADDRESS is busy with another match"),
        ("busy", "ADDRESS at ADDRESS is busy"),
        ("available", ""),
        ("<!DOCTYPE html><title>a site</title>", "ADDRESS answers, but not as a player does"),
        (b"HTTP/1.0 404 Not Found\r\n\r\n<html>", "ADDRESS answers, but not as a player does: .*404"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "ADDRESS answers, but not as a player does: the reply is not HTTP"),
        (b"", "ADDRESS cannot be reached|ADDRESS answers"),
        (None, "ADDRESS says nothing for"),
    ],
)
async def test_who_cannot_play_is_found_before_the_match(
    answer: str | bytes | None, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(introductions, "INFO_SECONDS", 0.5)
    async with Puppet(lambda _: answer) as puppet:
        address = f"127.0.0.1:{puppet.port}"
        faults = await meet(parse_players(f"{address},random"))
        assert re.fullmatch(f"({fault.replace('ADDRESS', address)}).*", "".join(faults))


def test_nobody_and_nowhere_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(introductions, "COMING_SECONDS", 0.2)
    faults = asyncio.run(meet(parse_players("127.0.0.1:9,no-such-host.invalid,random,localhost:9")))
    assert faults.pop().startswith("no player listens at localhost:9")
    assert len(faults) == 2
    assert re.search("no player listens at 127.0.0.1:9: .*ggp serve --port 9", faults[0])
    assert faults[1] == "there is no computer no-such-host.invalid"


def test_a_player_that_is_just_starting_is_waited_for() -> None:
    async def run() -> list[str]:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        puppet = Puppet(decent, port=port)

        async def later() -> None:
            await asyncio.sleep(0.5)
            await puppet.__aenter__()

        players = parse_players(f"127.0.0.1:{port}")
        faults, _ = await asyncio.gather(meet(players), later())
        await puppet.__aexit__()
        return [*faults, players[0].name]

    assert asyncio.run(run()) == ["Puppet"]


@pytest.mark.slow
def test_a_tournament_against_nobody_does_not_begin(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = f"http://127.0.0.1:{taken.getsockname()[1]}"
    call = [sys.executable, "-m", "ggp", "tournament", "tictactoe", "-p", f"random,{free}", "-r", "1",
            "-d", str(tmp_path / "t.sqlite")]  # fmt: skip
    ran = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert re.match(r"ggp: no player listens at 127.0.0.1:\d+: .*--anyway", ran.stderr), ran.stderr
    assert ran.stderr.count("\n") == 1
