"""What commands print can be seen, in every locale; files that they write are whole or as they were."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.progress import Progress
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from gdl.errors import GdlError
from ggp.cli import build
from ggp.commands import check_writable
from ggp.console import new_console, text_column
from ggp.game import Game
from ggp.output_file import replacing, write_file
from ggp.printing import prepare_streams, show
from ggp.tournament.schedule import Fixture
from ggp.tournament.store import Result, Store
from players.puzzles.sokoban.levels.read import read_levels
from tests.gdl.test_visible import texts
from tests.ggp.program import ggp
from tests.places import ROOT


def printed(text: str | bytes, encoding: str = "utf-8") -> str:
    """What is printed to a stream of this encoding, as its bytes say."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        prepare_streams()
        show(text, head="ggp:", end="")
        stream.flush()
        return stream.buffer.getvalue().decode("utf-8" if isinstance(text, bytes) else encoding)  # type: ignore[attr-defined]


@given(texts, st.sampled_from(["utf-8", "ascii", "latin-1", "shift-jis"]))
def test_all_can_be_seen_and_written(text: str, encoding: str) -> None:
    shown = printed(text, encoding)
    assert shown.replace("\n", "").replace("\t", "").isprintable()
    assert encoding != "ascii" or shown.isascii()


@given(st.text(), st.sampled_from(["utf-8", "ascii"]))
def test_json_stays_the_same_json(text: str, encoding: str) -> None:
    line = json.dumps(text, ensure_ascii=False)
    assert json.loads(printed(line, encoding).removeprefix("ggp:")) == text


def test_documents_are_utf_8_in_every_locale() -> None:
    assert printed("naïve".encode(), "ascii") == "naïve"
    assert printed("naïve", "ascii") == "ggp:na\\u00efve"


NAMES = [
    ":smile:",
    "[red]x[/red]",
    "[/]",
    "[bold",
    "a[link=http://x]b",
    ":warning:[x]",
    "\\[x]",
    "[@click=app.quit]",
]

EVIL = "e\x1b[31m\x9b31m\u202e", r"e\u001b[31m\u009b31m\u202e"
"""A name that drives a terminal, and how it is shown."""


@pytest.mark.parametrize(("name", "shown"), [*zip(NAMES, NAMES, strict=True), EVIL])
def test_nothing_is_markup_and_nothing_drives_the_terminal(name: str, shown: str) -> None:
    told = io.StringIO()
    console = new_console(file=told, width=200, force_terminal=True, color_system=None)
    console.print(name)
    console.print(f"{name} in a line", style="red", soft_wrap=True)
    table = Table(f"{name} heads", title=f"{name} above")
    table.add_row(f"{name} in a cell")
    console.print(table)
    with Progress(text_column("{task.description}"), console=console, auto_refresh=False) as progress:
        progress.add_task(f"{name} is under way")
    lines = told.getvalue()
    for text in ("\n", " in a line", " heads", " above", " in a cell"):
        assert f"{shown}{text}" in lines, text
    # The column of a progress is measured before its text is made visible, which may cut it.
    assert f"{shown} is under way" in lines or name != shown
    assert not {"\x9b", "\u202e"} & set(lines) and "\x1b[31m" not in lines


def test_a_file_with_such_a_name_is_played(tmp_path: Path) -> None:
    path = tmp_path / ":smile:[red]x[bold].kif"
    path.write_text(Game.load("tictactoe").text)
    done = ggp("play", str(path), "--players", "random,random", "--clock", "0.1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(":smile:[red]x[bold] on the ")


def test_colours_are_texts() -> None:
    told = io.StringIO()
    new_console(file=told, force_terminal=True, color_system="standard").print(Text(":smile:[red]", "red"))
    assert told.getvalue() == "\x1b[31m:smile:[red]\x1b[0m\n"


# --- Names of files, titles and symbols may hold what drives a terminal: no command passes it on
STEERING = "e\x1b[31m\x9b31m\u202etxt\udc9b"
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


def printed_by(*arguments: str | Path) -> str:
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
    path = tmp_path / f"{STEERING}.{kind}"
    try:
        path.write_text(text.replace("{}", STEERING), encoding="utf-8", errors="surrogateescape")
    except OSError:
        pytest.skip("files cannot have such names here")
    return path


@pytest.mark.slow
def test_rules_in_a_file_of_such_a_name(tmp_path: Path) -> None:
    path = file_of(tmp_path, "kif", RULES.replace("{}", ""))
    assert r"\u001b[31m\u009b31m\u202etxt\udc9b" in printed_by("validate", path)
    printed_by("format", "--check", path)
    printed_by("ground", path)
    printed_by("play", path, "--players", "random", "--clock", "1")
    assert Game.load(path).name.isprintable()


def test_symbols_of_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.kif"
    path.write_text("(role a\x9b31m)\n", encoding="utf-8")
    assert ":1:8: " in printed_by("validate", path)
    assert "1:8: " in printed_by("ground", path)


def test_what_there_is_not(tmp_path: Path) -> None:
    missing = tmp_path / f"{STEERING}.kif"
    for command in ("validate", "format", "ground", "play"):
        printed_by(command, missing)


def test_titles_of_levels_and_names_of_pieces(tmp_path: Path) -> None:
    (level,) = read_levels(LEVEL.replace("{}", STEERING))
    assert level.title.startswith(r"e\u001b[31m\u009b31m\u202etxt")
    printed_by("cover", file_of(tmp_path, "packing", PACKING))


SAID = f"{STEERING[:-1]}\x07\x08\x7f]0;title\x07 \U000e0041"
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


# --- Files that people ask for are whole or as they were; a full disk is one line
def test_a_file_takes_the_place_of_the_old_one_with_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_file(path, b"old")
    path.chmod(0o640)
    write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_trying_a_link_to_nothing_leaves_it(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    check_writable(link)
    assert os.listdir(tmp_path) == ["link"]
    assert link.is_symlink()


def test_what_is_broken_off_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    write_file(path, b"old")

    def broken_off() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["match.json"]


def test_a_pipe_and_a_device_are_written_to(tmp_path: Path) -> None:
    write_file(Path(os.devnull), b"x")
    if Path("/dev/full").exists():
        with pytest.raises(GdlError, match="No space left"):
            write_file(Path("/dev/full"), b"x")


@pytest.mark.parametrize("place", ["absent/file", "folder"])
def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(GdlError, match="cannot write"):
        write_file(tmp_path / place, b"x")


def test_a_long_name_has_room_beside_it(tmp_path: Path) -> None:
    path = tmp_path / ("漢" * 85)
    write_file(path, b"x")
    assert path.read_bytes() == b"x"


def test_what_our_output_goes_to_is_added_to(tmp_path: Path) -> None:
    if not Path("/dev/stdout").exists():
        pytest.skip("there is no /dev/stdout here")
    code = (
        "from pathlib import Path; from ggp.output_file import write_file\n"
        "print('before', flush=True); write_file(Path('/dev/stdout'), b'file\\n'); print('after')"
    )
    out = tmp_path / "out"
    with out.open("ab") as file:
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=file, check=True, timeout=120)
    assert out.read_text() == "before\nfile\nafter\n"


@pytest.mark.parametrize("error", [errno.EACCES, errno.EROFS, errno.EBUSY])
@pytest.mark.parametrize("method", ["open", "replace"])
def test_a_file_with_nothing_beside_it_is_written_to_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, error: int
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"longer than what comes")
    usual = getattr(Path, method)

    def failing(self: Path, *arguments: object) -> object:
        if self.name != "file":
            raise OSError(error, os.strerror(error))
        return usual(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Path, method, failing)
        write_file(path, b"new")
        with pytest.raises(GdlError, match="cannot write"):
            write_file(tmp_path / "another", b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_no_room_beside_a_file_leaves_it_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(self: Path, *arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(GdlError, match="No space left"):
            write_file(path, b"new")
    assert path.read_bytes() == b"old"


def limited(code: str, most: int, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs code in a process whose files may have so many bytes: the same errors as on a full disk."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_full_disk_leaves_an_existing_report_whole(tmp_path: Path) -> None:
    report = tmp_path / "r.svg"
    report.write_text("old\n")
    code = (
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from ggp.cli import main; import sys\n"
        "sys.argv = ['ggp', 'solve', 'sokoban', '-o', 'r.svg']; main()"
    )
    done = limited(code, 500, tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "cannot write" in done.stderr
    assert report.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["r.svg"]


def test_a_full_disk_is_one_error_of_a_tournament_and_loses_no_match(tmp_path: Path) -> None:
    database = tmp_path / "t.sqlite"
    with Store(database) as store:
        store.add(Result(Fixture("g", 0, ("a", "b")), (1, 2), ((0, 0, 0),) * 2, True, 3, 1.0), {"moves": []})
    code = (
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from pathlib import Path; from gdl.errors import GdlError\n"
        "from ggp.tournament.store import *; from ggp.tournament.schedule import Fixture\n"
        "store = Store(Path('t.sqlite'))\n"
        "result = Result(Fixture('g', 1, ('a', 'b')), (1, 2), ((0, 0, 0),) * 2, True, 3, 1.0)\n"
        "try: store.add(result, {'moves': ['x' * 200_000]})\n"
        "except GdlError as error: print(error)"
    )
    done = limited(code, 100_000, tmp_path)
    assert "cannot write t.sqlite" in done.stdout, done.stderr
    with Store(database) as store:
        assert [result.fixture.round for result in store.results()] == [0]
        store.add(Result(Fixture("g", 1, ("a", "b")), (1, 2), ((0, 0, 0),) * 2, True, 3, 1.0), {"moves": []})
        assert len(store.results()) == 2
