"""``ggp host`` and ``ggp cluster``: matches between players over HTTP, and nodes that search."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from gdl.syntax.parser import parse_rules
from ggp.protocol.messages import Abort, Info, Message, Play, Start
from ggp.web.replay.replay_process import CARRIED, ReplayDesk
from players.fleet.ray_fleet import RayFleet
from players.fleet.ray_nodes import ray_nodes
from players.fleet.survey import PROBE
from tests.ggp.program import ggp, started
from tests.ggp.puppets import Puppet, Reply, decent, marker
from tests.ggp.server.live import MARKS, ServeProcess
from tests.waiting import until


def host(*arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return ggp("host", *arguments, timeout=timeout)


def test_ggp_host_plays_a_file_and_writes_json(tmp_path: Path) -> None:
    game = tmp_path / "marks.kif"
    game.write_text(MARKS)
    out = tmp_path / "match.json"
    ran = host(str(game), "--players", "legal,random", "--seed", "4", "-o", str(out))
    assert ran.returncode == 0, ran.stderr
    assert "Robot 100, other 50" in ran.stdout
    fields = json.loads(out.read_text())
    assert fields["matchId"].startswith("Match.kaskade.marks.")
    assert fields["goalValues"] == [100, 50]
    # The rules are in it: whoever replays it needs neither their file nor to guess from the match's id.
    assert parse_rules(fields["rules"]) == parse_rules(MARKS)
    game.unlink()
    order = {"do": "story", "kind": "record", "path": str(out), "match": 0}
    story = ReplayDesk().answer(order, lambda *_, **__: None)
    assert isinstance(story, dict)
    assert (story["game"], story["rules"]) == ("marks", CARRIED)
    assert story["roles"] == ["Robot", "other"]
    assert story["players"] == ("legal", "random")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)]
)
def test_ggp_host_stopped_by_a_signal_aborts_the_match(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    with hosted(tmp_path, lambda m: None if isinstance(m, Play) else decent(m)) as (process, puppet, out):
        until(lambda: any(isinstance(m, Play) for m in puppet.messages))
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
        assert (process.returncode, "Traceback" in errors) == (status, False), errors
        assert json.loads(out.read_text())["isAborted"]
        assert isinstance(puppet.messages[-1], Abort)


def test_ggp_host_into_a_closed_pipe_aborts_the_match(tmp_path: Path) -> None:
    with hosted(tmp_path, marker) as (process, puppet, out):
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        assert (process.wait(20), "Traceback" in errors) == (141, False), errors
        assert isinstance(puppet.messages[-1], Abort)
        assert json.loads(out.read_text())["isAborted"]


@contextmanager
def hosted(tmp_path: Path, reply: Reply) -> Iterator[tuple[subprocess.Popen[str], Puppet, Path]]:
    """`ggp host` in a match against a puppet, which answers in a thread."""
    game, out = tmp_path / "marks.kif", tmp_path / "match.json"
    game.write_text(MARKS)
    loop, puppet = asyncio.new_event_loop(), Puppet(reply)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(puppet.__aenter__(), loop).result(10)
    words = "--clock", "60", "--output", str(out)
    process = started("host", str(game), "-p", f"127.0.0.1:{puppet.port},legal", *words)
    try:
        yield process, puppet, out
    finally:
        process.kill()
        process.wait()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


@pytest.mark.slow
def test_ggp_host_begins_no_match_that_cannot_be(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = f"127.0.0.1:{taken.getsockname()[1]}"
    missing = str(tmp_path / "no" / "match.json")
    for arguments, message in (
        ((f"{free},random",), rf"ggp: no player listens at {free}: .*--anyway plays on"),
        (("127.0.0.1:0,random",), "ggp: 127.0.0.1:0 is not an address of a player"),
        (("uct,random",), "ggp: uct is a player, and no address"),
        ((f"{free},random", "--output", missing), "ggp: cannot write .*No such file or directory"),
        ((free,), "ggp: the game has 2 roles, and the players given are 1"),
    ):
        ran = host("tictactoe", "--players", *arguments)
        assert ran.returncode == 2
        assert re.match(message, ran.stderr), ran.stderr
        assert ran.stderr.count("\n") == 1
        assert not ran.stdout


def test_a_player_that_is_busy_by_then_ends_the_match_before_a_move(tmp_path: Path) -> None:
    def reply(message: Message) -> str:
        return "busy" if isinstance(message, Start) else decent(message)

    with hosted(tmp_path, reply) as (process, puppet, out):
        _, errors = process.communicate(timeout=20)
        assert process.returncode == 2
        assert errors.startswith("ggp: Puppet does not take the match: not ready: busy")
        assert [type(m) for m in puppet.messages] == [Info, Start, Abort]
        assert json.loads(out.read_text())["isAborted"]


@pytest.mark.slow
def test_a_match_of_random_moves_alone_is_no_result(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = f"127.0.0.1:{taken.getsockname()[1]}"
    out = tmp_path / "match.json"
    ran = host("tictactoe", "--players", f"{free},random", "--anyway", "--output", str(out))
    assert ran.returncode == 1
    *_, last = ran.stdout.splitlines()
    assert last == f"no result: every move of x ({free}) was random"
    assert "no connection" in ran.stdout
    assert json.loads(out.read_text())["isCompleted"]


def test_a_result_that_the_rules_do_not_give_is_told_with_the_reason(tmp_path: Path) -> None:
    game = tmp_path / "doubtful.kif"
    game.write_text(
        "(role x) (role y) (init (step 1)) (legal x a) (legal y a) (<= (next (step 2)) (true (step 1)))"
        "(<= terminal (true (step 2))) (goal x 100) (goal x 50)"
    )
    shown = host(str(game), "-p", "legal,legal").stdout
    assert "the goal values 50 and 100 hold for x at once in the state (step 2): the highest" in shown
    assert "no goal rule of y holds in the state (step 2): the highest that holds counts, or 0" in shown


@pytest.mark.slow
def test_by_default_a_server_logs_each_match_and_no_turns(tmp_path: Path) -> None:
    with ServeProcess("--player", "legal", "--machine", "prover") as server:
        place = f"127.0.0.1:{server.port}"
        ran = host("tictactoe", "-p", f"{place},legal", "--scramble", "--clock", "20,5", timeout=100)
        page = urlopen(Request(f"http://{place}/", headers={"Accept": "*/*"})).read().decode()
    assert ran.returncode == 0, ran.stdout + server.said
    events = re.findall(r"level=(\w+) event=(\S+) match=", server.said)
    assert sorted(events) == [("info", "end"), ("info", "game"), ("info", "result"), ("info", "start")]
    # The words of the rules are hidden, and the game is known all the same.
    assert "name=tictactoe roles=" in server.said
    assert re.search(r"event=result .*turns=\d+ goals=\"\d+ \d+\"", server.said)
    assert re.search(r"^match +game +role", page, re.MULTILINE)
    assert re.search(r"^Match\.\S+ +tictactoe +", page, re.MULTILINE)


def test_deals_are_drawn_by_the_system_and_the_record_tells_the_seed_that_deals_them_again(
    tmp_path: Path,
) -> None:
    def dealt(*options: str) -> dict[str, Any]:
        out = tmp_path / "match.json"
        ran = host("kuhn", "--players", "random,random", "--output", str(out), *options)
        assert ran.returncode == 0, ran.stderr
        told: dict[str, Any] = json.loads(out.read_text())
        return told

    first, second = dealt(), dealt()
    assert first["seed"] != second["seed"] and int(first["seed"]) > 1 << 64
    again = dealt("--seed", first["seed"])
    assert (again["seed"], again["moves"]) == (first["seed"], first["moves"])


# --- ``ggp cluster`` shows nodes, and workers that other programs have started on them
status = partial(ggp, "cluster")


@pytest.mark.parametrize("words", [("nowhere",), ("status", "local-ray:1"), ("local-ray:0",)])
def test_what_cannot_be_shown_is_one_readable_line(words: tuple[str, str]) -> None:
    shown = status(*words)
    assert shown.returncode != 0
    assert "Traceback" not in shown.stderr and shown.stderr.strip()


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray, the extra cluster, is missing")
def test_workers_of_other_programs_are_shown() -> None:
    async def run(address: str) -> None:
        fleet = RayFleet(address)
        try:
            node = (await fleet.nodes())[0]
            worker = await fleet.start(node, PROBE, 1)  # Ray ends what nobody holds
            shown = await asyncio.to_thread(status, address, "--json")
            assert shown.returncode == 0, shown.stderr
            nodes = {told["node"]: told for told in map(json.loads, shown.stdout.splitlines())}
            assert len(nodes) == 2 and nodes[node.id]["doing"] == ["probe: ready"]
            await fleet.stop(worker)
        finally:
            await fleet.close()

    with ray_nodes(2) as address:
        assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
        asyncio.run(run(address))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "nowhere"], "not an address of a cluster"),
        (["--cluster", "local-ray:2", "--player", "random"], "searches on no cluster"),
    ],
)
def test_a_server_that_cannot_use_its_cluster_says_so(words: list[str], said: str) -> None:
    ended = ggp("serve", "--port", "0", *words)
    assert ended.returncode == 2 and said in ended.stderr and "Traceback" not in ended.stderr
