"""The game manager: what it sends, what it makes of answers, what it writes."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from ggp import introductions
from ggp.introductions import meet
from ggp.manager import GameManager, MatchStep, in_words, parse_players
from ggp.protocol.cipher import cipher_for
from ggp.protocol.dialect import reply_bytes
from ggp.protocol.match_record import MatchRecord
from ggp.protocol.messages import Abort, Info, Message, Play, Start, Stop, parse_message, spaced
from tests.ggp.server.live import MARKS, ROOT, ServeProcess, eventually

Reply = Callable[[Message], "str | bytes | None"]


@dataclass
class Puppet:
    """A player that answers what it is told to; None means not at all."""

    reply: Reply
    requests: list[bytes] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> Puppet:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    @property
    def messages(self) -> list[Message]:
        return [parse_message(r.partition(b"\r\n\r\n")[2].decode()) for r in self.requests]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        self.requests.append(head + body)
        answer = self.reply(parse_message(body.decode()))
        if answer is None:
            await reader.read()
        else:
            writer.write(answer if isinstance(answer, bytes) else reply_bytes(answer))
        writer.close()


def decent(message: Message, move: str = "noop") -> str:
    match message:
        case Info():
            return "( ( name Puppet ) ( status available ) )"
        case Start():
            return "READY"
        case Play():
            return move
        case Stop():
            return "done"
        case _:
            return "aborted"


def marker(message: Message) -> str:
    return decent(message, "( MARK 1 1 )")


def play(*players: Reply | str, playclock: int = 1, **options: object) -> tuple[MatchRecord, list[Puppet]]:
    """A match of MARKS between puppets and stand-ins."""
    from gdl.prover.machine import ProverMachine

    puppets: list[Puppet] = []

    async def run() -> MatchRecord:
        places: list[str] = []
        async with AsyncExitStack() as stack:
            for player in players:
                if isinstance(player, str):
                    places.append(player)
                else:
                    puppets.append(await stack.enter_async_context(Puppet(player)))
                    places.append(f"http://127.0.0.1:{puppets[-1].port}")
            parsed = parse_players(",".join(places))
            record = MatchRecord("m1", 2, playclock, [player.name for player in parsed])
            machine = ProverMachine(parse_rules(MARKS))
            return await GameManager(MARKS, machine, parsed, record, **options).run()  # type: ignore[arg-type]

    return asyncio.run(run()), puppets


def test_requests_are_sent_byte_for_byte() -> None:
    _, (puppet,) = play(marker, "legal")
    name = f"127.0.0.1:{puppet.port}".encode()
    head = (
        b"POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: 127.0.0.1\r\nSender: GAMESERVER\r\n"
        b"Receiver: %s\r\nContent-Type: text/acl\r\nContent-Length: %d\r\n\r\n"
    )
    bodies = [
        b"( START m1 Robot (" + spaced(MARKS).encode() + b") 2 1)",
        b"( PLAY m1 NIL )",
        b"( PLAY m1 (( Mark 1 1 ) pass ) )",
        b"( PLAY m1 (( Mark 1 1 ) pass ) )",
        b"( STOP m1 (noop pass ) )",
    ]
    assert puppet.requests == [head % (name, len(body)) + body for body in bodies]


def test_a_match_is_recorded_state_by_state() -> None:
    record, _ = play("legal", "legal")
    assert record.completed
    assert not record.aborted
    assert record.moves == [["( Mark 1 1 )", "pass"], ["( Mark 1 1 )", "pass"], ["noop", "pass"]]
    assert record.states[0] == "( ( step 1 ) )"
    assert record.states[-1] == "( ( marked 1 1 ) ( step 4 ) )"
    assert record.goals == [100, 50]
    assert record.errors == [["", ""]] * 4
    assert record.state_times == sorted(record.state_times)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("( mark 3 3 )", "IL ( mark 3 3 )"),
        ("", "IL "),
        ("(((", "IL ((("),
        ("pass", "IL pass"),
        ("(mark 1 1) (mark 1 1)", "IL (mark 1 1) (mark 1 1)"),
        (b"garbage without HTTP\r\n\r\n", "IL the reply is not HTTP"),
        (b"HTTP/1.0 200 OK\r\nContent-length: 400\r\n\r\nnoop", "IL the reply ends before"),
        (b"HTTP/1.0 200 OK\r\n\r\n\xff\xfe", "IL the message is not text"),
        (b"HTTP/1.0 500 Oops\r\n\r\nno", "IL the player answers 500 Oops"),
        ("x" * 100_000, "IL an answer of 100,000"),
        (b"", "CE"),
    ],
)
def test_unreadable_and_illegal_answers_are_replaced_and_noted(answer: str | bytes, error: str) -> None:
    record, _ = play(lambda m: answer if isinstance(m, Play) else decent(m), "legal")
    assert record.completed
    assert all(errors[0].startswith(error) for errors in record.errors[1:])
    assert all(errors[1] == "" for errors in record.errors)
    assert record.moves[0][0] in ("( Mark 1 1 )", "( Mark 2 2 )")


def test_a_reply_without_length_is_read_up_to_the_close() -> None:
    record, _ = play(lambda m: b"HTTP/1.0 200 OK\r\n\r\n " + marker(m).encode() + b"\r\n", "legal")
    assert [e[0] for e in record.errors] == ["", "", "", "IL ( MARK 1 1 )"]


def test_late_answers_and_absent_players_are_replaced_and_noted() -> None:
    record, _ = play(lambda m: None if isinstance(m, Play) else decent(m), "127.0.0.1:9")
    assert record.completed
    assert [e[0] for e in record.errors] == ["", "TO", "TO", "TO"]
    assert all(e[1].startswith("CE") for e in record.errors)


def test_players_are_told_the_moves_that_counted() -> None:
    record, (puppet,) = play(lambda m: decent(m, "nonsense"), "random", seed=5)
    reported = [m.moves for m in puppet.messages if isinstance(m, Play | Stop)]
    assert reported == [None, *(tuple(joint) for joint in record.moves)]


def test_the_same_seed_gives_the_same_match() -> None:
    assert play("random", "random", seed=3)[0].moves == play("random", "random", seed=3)[0].moves


def test_a_scrambled_match_shows_none_of_its_words_and_is_recorded_in_them() -> None:
    rules = parse_rules(MARKS)
    cipher = cipher_for(rules, 1)
    mark = cipher.scramble("(Mark 1 1)")
    record, (puppet,) = play(lambda m: decent(m, mark), "legal", cipher=cipher)
    assert [e[0] for e in record.errors] == ["", "", "", f"IL {mark}"]
    assert record.moves[0] == ["( Mark 1 1 )", "pass"]
    sent = b"".join(r.partition(b"\r\n\r\n")[2] for r in puppet.requests).lower()
    for word in (b"mark", b"robot", b"pass", b"noop", b"succ"):
        assert word not in sent
    assert b"legal" in sent


def test_cancelling_a_match_aborts_it_at_the_players() -> None:
    from gdl.prover.machine import ProverMachine

    async def run() -> tuple[MatchRecord, list[Message]]:
        async with Puppet(lambda m: None if isinstance(m, Play) else decent(m)) as puppet:
            players = parse_players(f"127.0.0.1:{puppet.port},legal")
            record = MatchRecord("m1", 5, 60, ["a", "b"])
            task = asyncio.create_task(
                GameManager(MARKS, ProverMachine(parse_rules(MARKS)), players, record).run()
            )
            while not any(isinstance(m, Play) for m in puppet.messages):
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return record, puppet.messages

    record, messages = asyncio.run(run())
    assert record.aborted
    assert not record.completed
    assert messages[-1] == Abort("m1")


def test_too_few_players_are_an_error_that_names_the_roles() -> None:
    with pytest.raises(GdlError, match="Robot, other"):
        play("legal")


def test_players_are_asked_for_their_names() -> None:
    async def run() -> list[str]:
        async with Puppet(decent) as puppet:
            players = parse_players(f"127.0.0.1:{puppet.port},random")
            assert await meet(players) == []
            return [player.name for player in players]

    assert asyncio.run(run()) == ["Puppet", "random"]


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
def test_who_cannot_play_is_found_before_the_match(
    answer: str | bytes | None, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(introductions, "INFO_SECONDS", 0.5)

    async def run() -> None:
        async with Puppet(lambda _: answer) as puppet:
            address = f"127.0.0.1:{puppet.port}"
            faults = await meet(parse_players(f"{address},random"))
            assert re.fullmatch(f"({fault.replace('ADDRESS', address)}).*", "".join(faults))

    asyncio.run(run())


def test_nobody_and_nowhere_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(introductions, "COMING_SECONDS", 0.2)
    faults = asyncio.run(meet(parse_players("127.0.0.1:9,no-such-host.invalid,random,localhost:9")))
    assert faults.pop().startswith("nobody listens at localhost:9")
    assert len(faults) == 2
    assert re.search("nobody listens at 127.0.0.1:9: .*ggp serve --port 9", faults[0])
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


def test_a_name_of_a_player_is_no_address() -> None:
    for word in ("uct", "UCT", "uct:workers=2", "mine:Mine", "bots.mine:Mine"):
        with pytest.raises(GdlError, match=r"is a player, and no address.*ggp serve --player"):
            parse_players(f"{word},random")


def test_errors_are_told_in_words() -> None:
    said = [in_words(error) for error in ("TO", "CE refused", "IL ( mark 3 3 )", "not ready: busy", "")]
    assert said == ["no answer in time", "no connection: refused", "no legal move: ( mark 3 3 )",
                    "not ready: busy", ""]  # fmt: skip


def test_the_watcher_sees_every_turn() -> None:
    steps: list[MatchStep] = []
    play("legal", "legal", watch=steps.append)
    assert [(s.number, len(s.moves)) for s in steps] == [(0, 0), (1, 2), (2, 2), (3, 2)]


# --- the command ---------------------------------------------------------------------------------------
def host(*arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ggp", "host", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def test_ggp_host_plays_a_file_and_writes_json(tmp_path: Path) -> None:
    game = tmp_path / "marks.kif"
    game.write_text(MARKS)
    out = tmp_path / "match.json"
    ran = host(str(game), "--players", "legal,random", "--seed", "4", "--out", str(out), "--match-id", "m7")
    assert ran.returncode == 0, ran.stderr
    assert "Robot 100, other 50" in ran.stdout
    fields = json.loads(out.read_text())
    assert fields["matchId"] == "m7"
    assert fields["goalValues"] == [100, 50]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)]
)
def test_ggp_host_stopped_by_a_signal_aborts_the_match(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    with hosted(tmp_path, lambda m: None if isinstance(m, Play) else decent(m)) as (process, puppet, out):
        eventually(lambda: any(isinstance(m, Play) for m in puppet.messages))
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
        assert (process.returncode, "Traceback" in errors) == (status, False), errors
        assert json.loads(out.read_text())["isAborted"]
        assert isinstance(puppet.messages[-1], Abort)


def test_ggp_host_into_a_closed_pipe_aborts_the_match(tmp_path: Path) -> None:
    with hosted(tmp_path, marker) as (process, puppet, out):
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
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
    process = subprocess.Popen(
        [sys.executable, "-m", "ggp", "host", str(game), "-p", f"127.0.0.1:{puppet.port},legal",
         "--playclock", "60", "--output", str(out)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process, puppet, out
    finally:
        process.kill()
        process.wait()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def test_ggp_host_begins_no_match_that_cannot_be(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = f"127.0.0.1:{taken.getsockname()[1]}"
    missing = str(tmp_path / "no" / "match.json")
    for arguments, message in (
        ((f"{free},random",), rf"ggp: nobody listens at {free}: .*--anyway plays on"),
        (("127.0.0.1:0,random",), "ggp: 127.0.0.1:0 is no address of a player"),
        (("uct,random",), "ggp: uct is a player, and no address"),
        ((f"{free},random", "--out", missing), "ggp: cannot write .*No such file or directory"),
        ((free,), "ggp: the game has 2 roles, and the players given are 1"),
    ):
        ran = host("tictactoe", "--players", *arguments)
        assert ran.returncode == 2
        assert re.match(message, ran.stderr), ran.stderr
        assert ran.stderr.count("\n") == 1
        assert not ran.stdout


def test_a_tournament_against_nobody_does_not_begin(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = f"http://127.0.0.1:{taken.getsockname()[1]}"
    call = [sys.executable, "-m", "ggp", "tournament", "tictactoe", "-p", f"random,{free}", "-r", "1",
            "-d", str(tmp_path / "t.sqlite")]  # fmt: skip
    ran = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert re.match(r"ggp: nobody listens at 127.0.0.1:\d+: .*--anyway", ran.stderr), ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_player_that_is_busy_by_then_ends_the_match_before_a_move(tmp_path: Path) -> None:
    def reply(message: Message) -> str:
        return "busy" if isinstance(message, Start) else decent(message)

    with hosted(tmp_path, reply) as (process, puppet, out):
        _, errors = process.communicate(timeout=20)
        assert process.returncode == 2
        assert errors.startswith("ggp: Puppet does not take the match: not ready: busy")
        assert [type(m) for m in puppet.messages] == [Info, Start, Abort]
        assert json.loads(out.read_text())["isAborted"]


def test_a_match_of_random_moves_alone_is_no_result(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = f"127.0.0.1:{taken.getsockname()[1]}"
    out = tmp_path / "match.json"
    ran = host("tictactoe", "--players", f"{free},random", "--anyway", "--out", str(out))
    assert ran.returncode == 1
    *_, last = ran.stdout.splitlines()
    assert last == f"no result: every move of x ({free}) was random"
    assert "no connection" in ran.stdout
    assert json.loads(out.read_text())["isCompleted"]


def test_a_corpus_match_between_two_served_players(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "match.json"
    servers = [ServeProcess("--player", player, "--margin", "0.5") for player in ("uct", "random")]
    try:
        ran = host(
            str(corpus / "games" / "ticTacToe.kif"), "--players",
            ",".join(f"http://127.0.0.1:{s.port}" for s in servers),
            "--startclock", "4", "--playclock", "2", "--scramble", "--out", str(out), timeout=100,
        )  # fmt: skip
    finally:
        logs = [s.close() for s in servers]
    assert ran.returncode == 0, ran.stdout + ran.stderr + "".join(logs)
    fields = json.loads(out.read_text())
    assert fields["isCompleted"]
    assert sum(fields["goalValues"]) == 100
    assert not any(error for errors in fields["errors"] for error in errors)
    assert all("Traceback" not in log for log in logs)
