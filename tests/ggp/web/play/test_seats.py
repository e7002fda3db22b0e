"""A player's name from a page loads no code, opens no path, calls no address, and starts no processes."""

from __future__ import annotations

import itertools
import os
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from players.processes import launch
from players.processes.limits import cores
from tests.ggp.web.clients import Client, client_of
from tests.ggp.web.play.test_tables import moves, opened

MARKER = """
from pathlib import Path
from players.baselines import LegalPlayer
Path("imported").touch()
class X(LegalPlayer):
    pass
"""


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of the current folder that leaves this file behind when it is imported."""
    monkeypatch.chdir(tmp_path)
    launch.use(None)  # forks would be in the folder in which the tests began
    (tmp_path / "marker.py").write_text(MARKER)
    return tmp_path / "imported"


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """A service of another kind, which counts who connects."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def connections(server: socket.socket) -> int:
    """How many have connected."""
    count = 0
    while True:
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


@pytest.mark.slow
async def test_names_that_reach_out_are_refused_at_the_door_and_at_the_table(
    client: Client, marker: Path, tmp_path: Path, listening: socket.socket
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    address = f"127.0.0.1:{listening.getsockname()[1]}"
    names = [
        "marker:X",
        "tables:otherwise=marker:X",
        "tables:dir=/dev,otherwise=marker:X",
        f"tables:dir={tmp_path}",
        "uct:knowledge=/dev/zero",
        f"uct:knowledge={pipe}",
        f"uct:workers=1,knowledge={pipe}",
        f"uct:cluster={address}",
        f"uct:workers=1,cluster={address}",
        "uct:cluster=local-ray:40",
        f"uct:workers={cores() + 1}",
        "uct:workers=40",
        "uct:memory=99999999999999",
        f"http://{address}",
        f"HTTP://{address}",
        f"http://{address}/metadata",
    ]
    at = await opened(client, game="tictactoe", seats=["human", "human"])
    await at.until("state")
    headers = at.headers
    for name in names:
        await at.request("seat", role="o", player=name)
        assert (await at.until("note"))["text"]
    await at.request("show")
    assert (await at.until("state"))["seats"] == ["human", "human"]
    for order in (
        {"seats": ["marker:X"]},
        {"others": f"uct:knowledge={pipe}"},
        {"seats": ["human", "human", f"http://{address}"]},  # a seat that the game does not have
    ):
        reply = await client.post("/play/tables", json={"game": "tictactoe", **order}, headers=headers)
        assert reply.status == 400, order
    assert not marker.exists()
    assert connections(listening) == 0


async def test_the_page_starts_no_more_search_processes_than_there_are_cores(client: Client) -> None:
    for workers in (cores() + 1, 40, -1, "2", True):
        with pytest.raises(AssertionError, match="workers is"):
            await opened(client, game="tictactoe", workers=workers)


async def test_players_that_the_operator_named_are_offered_and_play(marker: Path) -> None:
    async with client_of(players=("marker:X", "uct:knowledge=off")) as client:
        assert "marker:X" in await (await client.get("/play")).text()
        at = await opened(client, game="tictactoe", seats=["human", "marker:X"])
        await at.until("state")
        await at.request("move", role="x", move="(mark b 2)")
        state = await at.until("state", lambda s: s["step"] == 2)
        assert state["history"][1]["moves"] == ["noop", "(mark a 1)"]
    assert marker.exists()


@pytest.fixture
def foreign() -> Iterator[str]:
    """The address of a service that answers in turn by HTTP, with a fault, by another protocol, and not."""
    answers = itertools.cycle(
        [
            b"HTTP/1.0 200 OK\r\n\r\nsecret",
            b"HTTP/1.0 500 secret\r\n\r\nsecret",
            b"-ERR secret\r\n",
            b"",
        ]
    )

    class Answers(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(100_000)
            self.request.sendall(next(answers))

    with socketserver.TCPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.slow
async def test_what_a_foreign_service_answers_is_not_repeated(foreign: str) -> None:
    async with client_of(players=(foreign,)) as client:
        at = await opened(client, game="connectfour", seats=["human", foreign], playclock=1)
        for step in (0, 2, 4, 6):
            state = await at.until("state", lambda s, step=step: s["step"] == step)  # type: ignore[misc]
            await at.request("move", role=state["roles"][0], move=moves(state)[step // 6])
            note = await at.until("note")
            assert note["text"].startswith(f"{foreign} failed: ")
            assert "secret" not in note["text"]
