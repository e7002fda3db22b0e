"""Before a match players are asked who they are; who cannot play is found then."""

from __future__ import annotations

import asyncio
import re
import socket
from pathlib import Path

import pytest

from ggp import manager
from ggp.manager import make_distinct, meet, parse_players
from tests.ggp.program import ggp
from tests.ggp.puppets import Puppet, decent


async def test_players_are_asked_for_their_names_and_those_called_alike_get_names_of_their_own() -> None:
    async with Puppet(decent) as first, Puppet(decent) as second:
        one, other = (f"127.0.0.1:{puppet.port}" for puppet in (first, second))
        players = parse_players(f"{one},random,{other},{one},random")
        assert await meet(players) == []
        assert [player.name for player in players] == ["Puppet", "random", "Puppet", "Puppet", "random"]
        make_distinct(players)
    names = f"Puppet at {one}", "random", f"Puppet at {other}", f"Puppet at {one} (2)", "random (2)"
    assert [player.name for player in players] == list(names)


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
    monkeypatch.setattr(manager, "INFO_SECONDS", 0.5)
    async with Puppet(lambda _: answer) as puppet:
        address = f"127.0.0.1:{puppet.port}"
        faults = await meet(parse_players(f"{address},random"))
        assert re.fullmatch(f"({fault.replace('ADDRESS', address)}).*", "".join(faults))


def test_nobody_and_nowhere_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "COMING_SECONDS", 0.2)
    faults = asyncio.run(meet(parse_players("127.0.0.1:9,no-such-host.invalid,random,localhost:9")))
    assert faults.pop().startswith("no player listens at localhost:9")
    assert len(faults) == 2
    assert re.search("no player listens at 127.0.0.1:9: .*ggp serve --port 9", faults[0])
    assert faults[1] == "there is no computer no-such-host.invalid"


async def test_a_player_that_is_just_starting_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    players = parse_players(f"127.0.0.1:{port}")
    meeting = asyncio.create_task(meet(players))
    await asyncio.sleep(0.5)
    async with Puppet(decent, port=port):
        assert await meeting == []
    assert players[0].name == "Puppet"


@pytest.mark.slow
def test_a_tournament_against_nobody_does_not_begin(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = f"http://127.0.0.1:{taken.getsockname()[1]}"
    ran = ggp("tournament", "tictactoe", "-p", f"random,{free}", "-r", "1", "-d", str(tmp_path / "t.sqlite"))
    assert ran.returncode == 2
    assert re.match(r"ggp: no player listens at 127.0.0.1:\d+: .*--anyway", ran.stderr), ran.stderr
    assert ran.stderr.count("\n") == 1
