"""Files that people ask for are whole or as they were; a full disk is one line."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp.commands import check_writable
from ggp.output_file import replacing, write_file
from ggp.tournament.schedule import Fixture
from ggp.tournament.store import Result, Store
from tests.places import ROOT


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
