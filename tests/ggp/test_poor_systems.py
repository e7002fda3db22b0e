"""Commands where the system gives little: an ASCII locale, closed streams, no threads, a full disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gdl.writing import replace_file
from tests.ggp.program import python
from tests.places import ROOT

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "120"}
COMMANDS = [
    "--help",
    "play --help",
    "games",
    "games --json",
    "play {game} -p random,random --max-steps 1",
    "play {game} -p random,random --max-steps 1 --json",
    "play {game} -p human,random",
    "validate {game}",
    "validate -",
    "format {game}",
    "format -",
    "ground {game}",
    "ground {game} --stats",
    "scramble {game}",
    "playthrough {game}",
    "host {game} -p random,random",
    "verify nothing-there",
    "solve {game}",
    "cover {game}",
    "rules {game}",
    "explore {game}",
    "tabulate {game}",
    "lookup {game} nothing-there",
    "knowledge",
    "tournament {game} -p random,legal -d {folder}/t.sqlite --no-play",
    "serve --log-level nonsense",
    "web --records nothing-there",
    "cluster nonsense x",
    "bench nothing-there",
    "train nothing-there",
    "mcp",
]
RULES = """; Ein schönes Spiel: ♞
(role Weiß) (role ♞) (init (p 1)) (legal ?r é) (<= (legal ?r ♞) (role ?r))
(<= (next (p 2)) (true (p 1))) (<= terminal (true (p 2))) (<= (goal ?r 50) (role ?r))
""".replace("(legal ?r é)", "(<= (legal ?r é) (role ?r))")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_fails_in_an_ascii_locale_without_standard_input(command: str, tmp_path: Path) -> None:
    game = tmp_path / "spiel.kif"
    game.write_text(RULES, encoding="utf-8")
    words = command.format(game=game, folder=tmp_path).split()
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "ggp", *words],
        capture_output=True,
        cwd=ROOT,
        env=os.environ | ASCII,
        timeout=300,
    )
    said = (done.stdout + done.stderr).decode("utf-8")
    assert "Traceback" not in said and "Error:" not in said, said
    assert done.returncode in (0, 1, 2), said
    if "human" in command or command.endswith(" -"):
        assert "ggp: standard input is closed (" in said


@pytest.mark.parametrize("descriptor", [1, 2])
def test_closed_output_goes_nowhere(descriptor: int, tmp_path: Path) -> None:
    shell = f'exec "$@" {descriptor}>&-'
    validate = "-m", "ggp", "validate", "games/tictactoe.kif", "--json"
    words = "sh", "-c", shell, "sh", sys.executable, *validate
    done = subprocess.run(words, capture_output=True, cwd=ROOT, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", ["serve --port 0", "web --port 0", "play tictactoe -p random,random"])
def test_a_system_without_threads_is_said_on_one_line(words: str) -> None:
    code = (
        "import sys, threading\n"
        'def start(self): raise RuntimeError("can\'t start new thread")\n'
        "threading.Thread.start = start\n"
        f"sys.argv = ['ggp', *{words.split()!r}]\n"
        "from ggp.cli import main; main()"
    )
    done = python("-c", code)
    if words.startswith("play") and not done.returncode:
        pytest.skip("nothing is left to compile, which takes a thread")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("ggp: there are no more processes or threads to be had")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.NamedTemporaryFile", lambda **_: open("/dev/full", "wb"))  # noqa: SIM115
    monkeypatch.setattr(os, "unlink", lambda _: None)
    with pytest.raises(OSError, match="No space left") as full:
        replace_file(tmp_path / "manifest", b"x" * (1 << 20))
    assert full.value.filename == str(tmp_path / "manifest")
