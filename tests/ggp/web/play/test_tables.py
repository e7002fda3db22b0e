"""A table answers orders as people expect, refuses what cannot be, and hurts no other."""

from __future__ import annotations

import itertools
import json
import os
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ggp.game import Game
from ggp.processes.parent import Inbox
from ggp.web.play import routes
from ggp.web.play.routes import TABLES
from ggp.web.play.table import Table, TableRequest
from ggp.web.play.table_process import BlindTable
from ggp.web.replay.recorded import read_match
from ggp.web.replay.replay_process import Replay
from players.processes import launch
from players.processes.limits import cores
from tests.ggp.server.live import LiveServer
from tests.ggp.web.pages import Client, Listener, client_of, token_of


class At(Listener):
    """Somebody at a table."""

    def __init__(self, client: Client, table: str, headers: dict[str, str], key: str = "") -> None:
        super().__init__(client, f"/play/{table}/events", key)
        self.table, self.headers = table, headers

    async def request(self, name: str, /, **fields: object) -> dict[str, Any]:
        fields |= {"key": self.key} if self.key else {}
        reply = await self.client.post(f"/play/{self.table}/{name}", json=fields, headers=self.headers)
        told: dict[str, Any] = await reply.json()
        return told


async def opened(client: Client, **order: object) -> At:
    headers = token_of(client)
    reply = await client.post("/play/tables", json=order, headers=headers)
    told = await reply.json()
    assert reply.status == 200, told
    return At(client, told["table"], headers, told["key"])


def moves(state: dict[str, Any]) -> list[str]:
    return [move["move"] for move in state["asked"][0]["moves"]]


async def test_moves_are_taken_back_and_the_match_goes_on_from_any_step_with_other_seats(
    client: Client,
) -> None:
    at = await opened(client, game="tictactoe", seats=["human"], others="legal", playclock=0.1)
    state = await at.until("state")
    assert (state["roles"], state["seats"], state["step"]) == (["x", "o"], ["human", "legal"], 0)
    assert len(moves(state)) == 9
    await at.request("move", role="x", move="(mark b 2)")
    state = await at.until("state", lambda s: s["step"] == 2)
    assert state["history"][0]["moves"] == ["(mark b 2)", "noop"]
    again = {"role": "x", "move": moves(state)[-1], "step": 2}
    await at.request("move", **again)
    await at.until("state", lambda s: s["step"] == 4)
    await at.request("move", **again)  # the second of two clicks
    assert "has gone on" in (await at.until("note"))["text"]
    await at.request("back")
    assert (await at.until("state", lambda s: s["step"] == 2))["steps"] == 4
    await at.request("goto", step=1)  # somebody looks: ``legal`` does not move on
    assert (await at.until("state", lambda s: s["step"] == 1))["waits"]
    await at.request("swap")
    state = await at.until("state", lambda s: s["seats"] == ["legal", "human"])
    assert state["asked"][0]["role"] == 1
    await at.request("move", role="o", move=moves(state)[0])
    state = await at.until("state", lambda s: s["step"] == 3 and s["steps"] == 3)
    await at.request("seat", role="o", player="random")
    state = await at.until("state", lambda s: s["over"])
    assert sorted(state["goals"]) in ([0, 100], [50, 50])


async def test_a_person_walks_and_pushes_by_squares_and_keeps_the_match(client: Client) -> None:
    """Two squares of a level say what several moves do; the record of them is a match by the rules."""

    at = await opened(client, game="yards.xsb:2", seats=["human"])
    state = await at.until("state")
    assert (state["title"], state["next"]) == ("The belfry", "yards.xsb:3")
    assert state["choosing"] == [0]
    await at.request("walk", role="keeper", to="0,2,1")
    walked = await at.until("state", lambda s: s["step"] == 4)
    assert all(len(step["words"]) == 1 for step in walked["history"])
    await at.request("walk", role="keeper", to="0,99,99")
    assert "no way" in (await at.until("note"))["text"]
    await at.request("again")
    state = await at.until("state", lambda s: s["steps"] == 0)
    await at.request("walk", role="keeper", to="0,4,7", origin="0,4,4")
    pushed = await at.until("state", lambda s: s["step"] >= 3)
    assert pushed["history"][-1]["words"] == ["up"]
    reply = await client.get(f"/play/{at.table}/keep?form=record&key={at.key}")
    record = json.loads(await reply.text())
    assert reply.status == 200
    replay = Replay(read_match(record), Game("kept", record["rules"]))
    assert replay.compared().doubts == {}
    assert len(record["moves"]) == len(record["states"]) - 1 >= 3
    page = await (await client.get(f"/play/{at.table}/keep?form=html&key={at.key}")).text()
    assert page.startswith("<!doctype html>")
    assert "The belfry" in page
    assert (await client.get(f"/play/{at.table}/keep?form=exe&key={at.key}")).status == 400


async def test_moves_and_pushes_are_counted_and_steps_taken_back_are_made_again(client: Client) -> None:
    at = await opened(client, game="yards.xsb:2", seats=["human"])
    state = await at.until("state")
    assert (state["tally"], len(state["level"])) == ({"moves": 0, "pushes": 0}, 16)
    for number, way in enumerate(("left", "right", "up"), 1):
        await at.request("move", role="keeper", move=f"(move {way})")
        state = await at.until("state", lambda s, n=number: s["step"] == n)  # type: ignore[misc]
    assert state["tally"] == {"moves": 3, "pushes": 1}
    await at.request("back")
    await at.request("back")
    assert (await at.until("state", lambda s: s["step"] == 1))["tally"] == {"moves": 1, "pushes": 0}
    await at.request("redo")
    await at.until("state", lambda s: s["step"] == 2 and s["steps"] == 3)
    await at.request("redo")
    assert (await at.until("state", lambda s: s["step"] == 3))["tally"] == {"moves": 3, "pushes": 1}


async def test_a_table_goes_on_from_a_step_of_a_match(client: Client) -> None:
    line = [["(mark a 1)", "noop"], ["noop", "(mark b 2)"]]
    at = await opened(client, game="tictactoe", seats=["human", "legal"], playclock=0.1, moves=line)
    state = await at.until("state")
    assert ([step["moves"] for step in state["history"]], len(moves(state))) == (line, 7)
    await at.request("back")
    await at.until("state", lambda s: s["step"] == 1)


@pytest.mark.parametrize(
    ("game", "line", "words"),
    [
        ("tictactoe", [["(mark a 1)"]], "step 1 has 1 move"),
        ("tictactoe", [["(mark a 1)", "noop"]] * 2, "(mark a 1)"),
        ("tictactoe", [["(mark q 1)", "noop"]], "(mark q 1)"),
        ("tictactoe", [["(((", "noop"]], "never closed"),
        ("kuhn", [["noop", "noop", "(deal jack queen)"]], "hides information"),
    ],
)
async def test_a_line_that_cannot_be_played_opens_no_table(
    client: Client, game: str, line: list[list[str]], words: str
) -> None:
    order = {"game": game, "seats": ["human"], "moves": line}
    reply = await client.post("/play/tables", json=order, headers=token_of(client))
    told = await reply.json()
    assert reply.status == 400 and words in told["error"], told


async def test_the_end_says_why_and_rings_the_line_and_a_new_match_begins(client: Client) -> None:
    at = await opened(client, game="tictactoe", seats=["human", "human"])
    await at.until("state")
    for number, square in enumerate(("a 1", "a 2", "b 1", "b 2", "c 1")):
        await at.request("move", role="xo"[number % 2], move=f"(mark {square})")
        state = await at.until("state", lambda s, n=number: s["step"] == n + 1)  # type: ignore[misc]
    assert (state["over"], state["reason"]) == (True, "three in a row")
    assert state["svg"].count("gb-won") == 3
    assert [step["words"] for step in state["history"]][:2] == [["a1", None], [None, "a2"]]
    await at.request("again")
    state = await at.until("state", lambda s: s["steps"] == 0)
    assert not state["over"]
    assert not state["history"]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "told"), [("rockpaperscissors", False), ("connectfour", True)])
async def test_nobody_sees_what_another_thinks_before_both_have_chosen(
    client: Client, game: str, told: bool
) -> None:
    seats = ["human", "uct"] if game == "rockpaperscissors" else ["uct", "human"]
    at = await opened(client, game=game, seats=seats, playclock=3)
    await at.until("state", lambda s: s["chosen"] == [1] or s["step"] == 1)
    assert ("search" in dict(at.heard)) == told


@pytest.mark.slow
async def test_a_hint_names_a_legal_move(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    at = await opened(client, game="tictactoe", seats=["human", "human"])
    state = await at.until("state")
    await at.request("hint", role="x")
    hint = await at.until("hint")
    assert hint["move"] in moves(state)
    assert hint["over"].count("gb-hint") == 1
    assert {hint["words"], *(move for move, *_ in hint["candidates"])} <= {
        m["text"] for m in state["asked"][0]["moves"]
    }


async def test_who_is_too_slow_has_a_random_move_made(client: Client) -> None:
    at = await opened(client, game="rockpaperscissors", seats=["human", "human"], patience=0.05)
    assert (await at.until("state", lambda s: s["over"]))["steps"] >= 1


async def test_chance_draws_its_moves_and_nobody_takes_its_seat(client: Client) -> None:
    at = await opened(client, game="twentyfortyeight", seats=["human"], playclock=0.1)
    state = await at.until("state", lambda s: s["step"] == 2)  # two tiles are put without being asked
    assert (state["roles"], state["seats"]) == (["player", "random"], ["human", "random"])
    await at.request("seat", role="random", player="legal")
    await at.request("swap")
    assert (await at.until("state"))["seats"] == ["human", "random"]


async def test_both_choose_before_either_sees_the_other(client: Client) -> None:
    at = await opened(client, game="rockpaperscissors", seats=["human", "human"])
    state = await at.until("state")
    first, second = state["roles"]
    await at.request("move", role=first, move=moves(state)[0])
    state = await at.until("state", lambda s: len(s["asked"]) == 1)
    assert (state["step"], state["asked"][0]["role"]) == (0, 1)
    await at.request("move", role=second, move=moves(state)[0])
    assert (await at.until("state", lambda s: s["step"] == 1))["history"] != []


@pytest.mark.slow
async def test_rules_of_ones_own_are_played_in_either_notation_and_faults_are_told(client: Client) -> None:
    infix = (
        "role(you) init(n(0)) legal(you,go) legal(you,wait) next(n(1)) terminal :- true(n(1)) goal(you,100)"
    )
    at = await opened(client, rules=infix, seats=["human"])
    await at.request("move", role="you", move="go")
    assert (await at.until("state", lambda s: s["over"]))["goals"] == [100]
    for rules, words in (("(role x", "game:1:1: "), ("role(x) legal(", "expected"), ("(p a)", "role")):
        reply = await client.post("/play/tables", json={"rules": rules}, headers=token_of(client))
        assert reply.status == 400
        assert words in (await reply.json())["error"]
        assert "Traceback" not in await reply.text()


@pytest.mark.slow
async def test_what_cannot_be_is_told_in_a_line(client: Client) -> None:
    headers = token_of(client)
    for order in (
        {"game": "no-such"},
        {},
        {"game": "tictactoe", "seats": ["os:system"]},
        {"game": "tictactoe", "seats": "human"},
        {"game": "tictactoe", "playclock": 1e9},
        {"game": "tictactoe", "playclock": True},
        {"game": ["x"]},
    ):
        reply = await client.post("/play/tables", json=order, headers=headers)
        assert reply.status == 400, order
    at = await opened(client, game="tictactoe", seats=["human", "human"])
    state = await at.until("state")
    assert "role is not a string" in (await at.request("move", role=1))["error"]
    for fields in ({"role": "x", "move": "(mark 9 9)"}, {"role": "z", "move": "noop"}, {"role": "x"}):
        await at.request("move", **fields)
        assert (await at.until("note"))["text"]
    await at.request("seat", role="x", player="os:system")
    assert "not offered here" in (await at.until("note"))["text"]
    assert "characters" in (await at.request("seat", role="x", player=""))["error"]
    assert "does not exist" in (await At(client, "nowhere", at.headers).request("back"))["error"]
    await at.request("show")
    assert (await at.until("state"))["asked"] == state["asked"]


@pytest.mark.slow
async def test_a_table_whose_process_dies_says_so_and_makes_room(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MOST", 1)
    at = await opened(client, game="tictactoe", seats=["human", "human"])
    await at.until("state")
    refused = await client.post("/play/tables", json={"game": "tictactoe"}, headers=at.headers)
    assert refused.status == 503
    assert int(refused.headers["Retry-After"]) > 0
    assert (await at.request("show")) == {}, "nobody closes a table of others"
    client.app[TABLES].get(at.table)._child.kill()
    assert "ended" in (await at.until("ended"))["text"]
    assert "has ended" in (await at.request("back"))["error"]
    other = await opened(client, game="tictactoe", seats=["human", "human"])
    await other.until("state")
    assert "does not exist" in (await at.request("back"))["error"]


@pytest.mark.slow
async def test_a_table_that_nobody_has_looked_at_soon_makes_room(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MOST", 1)
    monkeypatch.setattr(routes, "UNSEEN_SECONDS", 0.0)
    unseen = await opened(client, game="tictactoe", seats=["human", "human"])
    at = await opened(client, game="tictactoe", seats=["human", "human"])
    assert "does not exist" in (await unseen.request("back"))["error"]
    await at.until("state")
    assert at.reader is not None
    at.reader.close()
    refused = await client.post("/play/tables", json={"game": "tictactoe"}, headers=at.headers)
    assert refused.status == 503, "one that was looked at is kept for a minute"


@pytest.mark.slow
async def test_a_player_at_an_address_plays_on_after_steps_are_taken_back() -> None:
    server = LiveServer(player="legal", matches=1)
    address, nobody = f"http://127.0.0.1:{server.port}", "http://127.0.0.1:9"

    try:
        async with client_of(players=(address, nobody)) as client:
            at = await opened(client, game="tictactoe", seats=["human", address], playclock=5)
            await at.until("state")
            await at.request("move", role="x", move="(mark b 2)")
            state = await at.until("state", lambda s: s["step"] == 2)
            assert state["history"][1]["moves"] == ["noop", "(mark a 1)"]
            await at.request("move", role="x", move="(mark c 3)")
            state = await at.until("state", lambda s: s["step"] == 4)
            assert state["history"][3]["moves"] == ["noop", "(mark a 2)"]
            await at.request("goto", step=2)
            await at.until("state", lambda s: s["step"] == 2)
            await at.request("move", role="x", move="(mark a 2)")
            state = await at.until("state", lambda s: s["step"] == 4 and s["steps"] == 4)
            assert state["history"][3]["moves"] == ["noop", "(mark a 3)"]
            await at.request("seat", role="o", player=nobody)
            await at.request("move", role="x", move="(mark c 3)")
            assert "cannot be reached" in (await at.until("note"))["text"]
            await at.until("state", lambda s: s["step"] == 6)
    finally:
        server.close()


async def test_of_requests_to_a_busy_table_so_many_wait_and_no_more(client: Client) -> None:
    at = await opened(client, game="connectfour", seats=["uct", "human"], playclock=60)
    await at.until("search")
    headers, path = at.headers, f"/play/{at.table}/move"
    statuses = []
    for _ in range(routes.MOST_ORDERS + 5):
        async with client.post(
            path, json={"role": "red", "move": "(drop 1)", "key": at.key}, headers=headers
        ) as reply:
            statuses.append(reply.status)
    assert statuses == [200] * routes.MOST_ORDERS + [503] * 5
    table = client.app[TABLES].get(at.table)
    table._child.send("pause", person=0)  # what has come before still waits
    await at.until("state", lambda state: state["waits"])
    assert "error" not in await at.request("show")


@pytest.mark.parametrize(
    ("do", "fields"),
    [
        ("move", {"role": "x", "move": "(" * 2001}),
        ("move", {"role": "x" * 2001, "move": "noop"}),
        ("walk", {"role": "x", "to": "1" * 201}),
        ("walk", {"role": "x", "to": "1", "origin": ["1"]}),
        ("seat", {"role": "x", "player": "uct" * 400}),
        ("goto", {"step": 10**400}),
        ("goto", {"step": "1"}),
        ("sit", {"role": {"a": 1}}),
        ("sit", {"role": "x", "name": "n" * 25}),
        ("seat", {"role": "x", "player": "uct", "seconds": 1e9}),
        ("show", {"key": "k" * 101}),
    ],
)
async def test_fields_of_requests_have_kinds_and_lengths(
    client: Client, do: str, fields: dict[str, object]
) -> None:
    at = await opened(client, game="tictactoe", seats=["human", "human"])
    body = json.dumps(fields)
    async with client.post(f"/play/{at.table}/{do}", data=body, headers=at.headers) as reply:
        assert reply.status == 400
    # What has no name here is dropped, however large it is.
    assert "error" not in await at.request("show", junk=[[]] * 1000)


async def test_where_chance_deals_a_stranger_names_no_seed_and_no_match_tells_of_the_next(
    client: Client,
) -> None:
    seeds = []
    for _ in range(2):
        at = await opened(client, game="montyhall", seats=["random"], seed=5)
        for _ in range(2):
            await at.until("state", lambda state: state["over"])
            seeds.append(int((await (await client.get(f"/play/{at.table}/keep")).json())["seed"]))
            await at.request("again")
            await at.until("state", lambda state: not state["over"])
    assert len(set(seeds)) == 4 and min(seeds) > 1 << 64
    assert all(seed - other not in (0, 1) for seed in seeds for other in seeds if seed is not other)


def test_the_seed_in_a_record_deals_the_same_match_again() -> None:
    def played(seed: int) -> tuple[int, list[list[str]]]:
        said: list[tuple[str, dict[str, Any]]] = []
        request = TableRequest(Game.load("kuhn"), ["random", "random"], seed=seed)
        table = BlindTable(request, Inbox(), lambda kind, **fields: said.append((kind, fields)))
        while not table._revealed:
            table._turn()
        table._do_keep("record")
        record = json.loads(next(fields["text"] for kind, fields in said if kind == "kept"))
        return int(record["seed"]), record["moves"]

    seed, moves = played(0)
    assert played(seed) == (seed, moves)
    assert len({played(0)[0] for _ in range(3)}) == 3


async def test_a_match_can_be_kept_again_after_too_many_requests_waited(client: Client) -> None:
    at = await opened(client, game="tictactoe", seats=["human", "human"])
    table = client.app[TABLES].get(at.table)
    table._waiting.extend([-1] * routes.MOST_ORDERS)
    assert (await client.get(f"/play/{at.table}/keep?key={at.key}")).status == 503
    table._waiting.clear()
    assert (await client.get(f"/play/{at.table}/keep?key={at.key}")).status == 200
    await table.close()
    await table.close()


def test_requests_that_change_nothing_give_a_person_no_more_time() -> None:
    inbox = Inbox()
    request = TableRequest(Game.load("tictactoe"), ["human", "human"], patience=1000.0)
    table = Table(request, inbox, lambda kind, **fields: None)
    dues = []
    for order in ("show", "nothing", "hint", "go"):
        inbox.put({"do": order, "person": 0})
        table._turn()
        dues.append(table._clock._since[0])
    inbox.put({"do": "move", "role": "x", "move": "(mark z 9)", "person": 0})
    table._turn()
    assert {*dues, table._clock._since[0]} == {dues[0]}
    inbox.put({"do": "move", "role": "x", "move": "(mark a 1)", "person": 0})
    while not table.match.steps:
        table._turn()
    assert not table._clock._since


# --- A player's name from a page loads no code, opens no path, calls no address, and starts no processes
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
        reply = await client.post("/play/tables", json={"game": "tictactoe", **order}, headers=at.headers)
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
        [b"HTTP/1.0 200 OK\r\n\r\nsecret", b"HTTP/1.0 500 secret\r\n\r\nsecret", b"-ERR secret\r\n", b""]
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
