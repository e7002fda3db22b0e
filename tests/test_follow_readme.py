"""What follows the README in CI finds what goes wrong there, and leaves nothing behind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.places import ROOT, script

PLACE = ROOT / ".ci" / "follow_readme.py"


if not PLACE.is_file():
    pytest.skip("only a checkout has it", allow_module_level=True)

FOLLOWER = script(PLACE)


def _follow(tmp_path: Path, *blocks: tuple[str, str], limit: float = 30.0) -> tuple[str, list[str]]:
    """What went wrong with a page of these blocks, and the folder's files afterwards."""
    home, folder = tmp_path / "home", tmp_path / "page"
    home.mkdir()
    folder.mkdir()
    text = "\n".join(f"```{language}\n{text}\n```\nand\n" for language, text in blocks)
    (folder / "README.md").write_text(text)
    subprocess.run("git init -q && git add README.md", shell=True, cwd=folder, check=True)
    wrong: str = FOLLOWER.follow(folder, home, limit)
    return wrong, sorted(path.name for path in folder.iterdir())


def test_blocks_are_followed_in_one_shell_with_an_empty_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    wrong, files = _follow(
        tmp_path,
        ("sh", 'word=said\n\ntest -z "$(ls -A ~)" # empty\ntest -z "$PYTHONPATH"'),
        ("sh", 'test "$word" = said\nread answer\ntest "$answer" = 1'),
        ("python", "# mine.py\nNAME = 'mine'"),
        ("sh", 'python() { python3 "$@"; }\nsleep 60 &\ntest -f mine.py'),
        ("python", "import mine\nassert mine.NAME == 'mine'"),
        ("sh", "kill %1"),
    )
    assert wrong == ""
    assert files == [".git", "README.md", "__pycache__"] or files == [".git", "README.md"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("true\nfalse\ntrue", "status 1"),
        ("no-such-command-at-all", "status 127"),
        ("false | true", "status 1"),
        ("exec sleep 60", "not over after 2"),
    ],
)
def test_what_fails_is_told(text: str, message: str, tmp_path: Path) -> None:
    wrong, _ = _follow(tmp_path, ("sh", f"touch left\n{text}"), limit=2.0)
    assert message in wrong
    assert not (tmp_path / "page" / "left").exists()


def test_a_block_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="neither sh nor python"):
        _follow(tmp_path, ("", "make play"))


def test_what_is_left_running_is_found_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FOLLOWER, "PATIENCE", 0.5)
    number = tmp_path / "number"
    wrong, _ = _follow(tmp_path, ("sh", f"setsid sleep 60 &\necho $! > {number}"))
    assert "left behind" in wrong
    state = Path(f"/proc/{number.read_text().strip()}/stat")
    assert not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
