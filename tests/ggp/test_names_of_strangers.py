"""Names of files, titles and symbols may hold what drives a terminal: no command passes it on."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ggp.cli import build
from ggp.game import Game
from players.puzzles.sokoban.levels.read import read_levels
from tests.places import ROOT

EVIL = "e\x1b[31m\x9b31m\u202etxt\udc9b"
"""Escape, C1, a mark that turns the text around, and a byte that is no UTF-8."""
RULES = (
    "(role a) ; {}\n(init (p 1)) (<= (legal a go) (true (p ?x))) (<= terminal (true (p 1))) (gaol a 100)\n"
)
TWO_MOVES = (
    "(role a) (init (p 1)) (legal a go) (legal a stay) (<= (next (p 2)) (true (p 1))) "
    "(<= terminal (true (p 2))) (goal a 100)"
)
LEVEL = "Title: {}\n#####\n#@$.#\n#####\n"
PACKING = "name {}\ngrid cubes\npiece {}\n##\nresult\n##\n"


def printed(*arguments: str | Path) -> str:
    """What the command prints; fails where that is no text or nobody can read it."""
    done = subprocess.run(
        [sys.executable, "-m", "ggp", *(os.fspath(a) for a in arguments)],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "COLUMNS": "200"},
    )
    text = (done.stdout + done.stderr).decode("utf-8")
    assert "Traceback" not in text
    assert text.replace("\n", "").isprintable(), repr(text)
    return text


def file_of(tmp_path: Path, kind: str, text: str) -> Path:
    path = tmp_path / f"{EVIL}.{kind}"
    try:
        path.write_text(text.replace("{}", EVIL), encoding="utf-8", errors="surrogateescape")
    except OSError:
        pytest.skip("files cannot have such names here")
    return path


@pytest.mark.slow
def test_rules_in_a_file_of_such_a_name(tmp_path: Path) -> None:
    path = file_of(tmp_path, "kif", RULES.replace("{}", ""))
    assert r"\u001b[31m\u009b31m\u202etxt\udc9b" in printed("validate", path)
    printed("format", "--check", path)
    printed("ground", path)
    printed("play", path, "--players", "random", "--clock", "1")
    assert Game.load(path).name.isprintable()


def test_symbols_of_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.kif"
    path.write_text("(role a\x9b31m)\n", encoding="utf-8")
    assert ":1:8: " in printed("validate", path)
    assert "1:8: " in printed("ground", path)


def test_what_there_is_not(tmp_path: Path) -> None:
    missing = tmp_path / f"{EVIL}.kif"
    for command in ("validate", "format", "ground", "play"):
        printed(command, missing)


def test_titles_of_levels_and_names_of_pieces(tmp_path: Path) -> None:
    (level,) = read_levels(LEVEL.replace("{}", EVIL))
    assert level.title.startswith(r"e\u001b[31m\u009b31m\u202etxt")
    printed("cover", file_of(tmp_path, "packing", PACKING))


SAID = f"{EVIL[:-1]}\x07\x08\x7f]0;title\x07 \U000e0041"
"""What a player may say: as above, and the rest of ASCII's controls."""


def _reply(text: str, status: str = "200 OK") -> bytes:
    return f"HTTP/1.0 {status}\r\nContent-Length: {len(text.encode())}\r\n\r\n{text}".encode()


REPLIES: dict[str, Callable[[str], bytes]] = {
    "name": lambda _: _reply(f"( ( name {SAID} ) ( status available ) )"),
    "status": lambda _: _reply(f"( ( name fine ) ( status {SAID} ) )"),
    "no player": lambda _: _reply(f"<{SAID}"),
    "START": lambda _: _reply(SAID),
    "PLAY": lambda command: _reply("ready" if command == "START" else SAID),
    "reason": lambda _: _reply(SAID, f"500 {SAID}"),
    "status line": lambda _: f"{SAID}\r\n\r\n".encode(),
    "header": lambda _: f"HTTP/1.0 200 OK\r\nContent-Length: {SAID}\r\n\r\nready".encode(),
}
ABOUT_ITSELF = "name", "status", "no player"


@contextmanager
def _stranger(part: str) -> Iterator[int]:
    """A player that puts :data:`SAID` in this part of what it answers."""

    class Player(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            command = self.rfile.read(int(self.headers["Content-Length"])).split()[1].decode()
            usual = command == "INFO" and part not in ABOUT_ITSELF
            fine = _reply("( ( name fine ) ( status available ) )")
            self.wfile.write(fine if usual else REPLIES[part](command))

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Player) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("part", REPLIES)
def test_what_a_player_at_an_address_says(part: str, tmp_path: Path) -> None:
    rules, record = tmp_path / "rules.kif", tmp_path / "record.json"
    rules.write_text(TWO_MOVES)
    with _stranger(part) as port:
        words = [str(rules), "-p", f"127.0.0.1:{port}", "--clock", "1,5", "--anyway", "-o", str(record)]
        done = CliRunner().invoke(build("host"), ["host", *words])
    said = done.stdout_bytes.decode() + done.stderr_bytes.decode()
    assert said.replace("\n", "").isprintable(), repr(said)
    assert record.read_text(encoding="utf-8").rstrip("\n").isprintable()
    if part not in ABOUT_ITSELF:
        assert "[31m" in said and "[31m" in record.read_text(encoding="utf-8")
