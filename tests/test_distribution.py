"""What is installed and what is given away: locks with checksums, a whole sdist, links that work on PyPI."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from tests.places import ROOT, script

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = (
    "requirements.lock",
    "requirements-play.lock",
    "requirements-cluster.lock",
    "requirements-build.lock",
    "requirements-dev.lock",
    "requirements-audit.lock",
)


def pins(lock: str) -> dict[str, str]:
    """Name -> version of what is locked; each entry must have a version and checksums."""
    text = re.sub(r"\s*#.*", "", (ROOT / lock).read_text(encoding="utf-8")).replace("\\\n", " ")
    found: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        match = re.fullmatch(
            r"([A-Za-z0-9._-]+)==(\S+)(?: ; [^\\-]+)?((?:\s+--hash=sha256:[0-9a-f]{64})+)\s*", line
        )
        assert match, f"{lock}: {line[:80]}"
        found[re.sub(r"[-_.]+", "-", match[1]).lower()] = match[2]
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_name_versions_and_checksums_and_no_address(lock: str) -> None:
    assert len(pins(lock)) > 4
    assert "//" not in (ROOT / lock).read_text(encoding="utf-8")


def test_locks_agree_with_each_other() -> None:
    run_time, development = pins("requirements.lock"), pins("requirements-dev.lock")
    assert pins("requirements-play.lock").items() <= run_time.items() <= development.items()
    assert run_time.items() <= pins("requirements-cluster.lock").items()
    for lock in ("requirements-build.lock", "requirements-audit.lock"):
        for name, version in pins(lock).items():
            assert development.get(name, version) == version
    assert not {"pytest", "mypy", "sphinx", "hypothesis"} & run_time.keys()


def test_all_that_is_needed_is_locked_at_a_version_that_will_do() -> None:
    requirements = pytest.importorskip("packaging.requirements")
    extras = PROJECT["optional-dependencies"]
    wanted = {
        "requirements.lock": PROJECT["dependencies"],
        "requirements-dev.lock": [*extras["test"], *extras["dev"], *extras["docs"]],
        "requirements-play.lock": PROJECT["dependencies"],
        "requirements-cluster.lock": [*PROJECT["dependencies"], *extras["cluster"]],
        "requirements-audit.lock": extras["audit"],
    }
    for lock, lines in wanted.items():
        locked = pins(lock)
        for line in lines:
            needed = requirements.Requirement(line)
            name = re.sub(r"[-_.]+", "-", needed.name).lower()
            assert needed.specifier.contains(locked[name], prereleases=True), (lock, line)


def test_links_of_the_readme_work_outside_the_repository() -> None:
    pytest.importorskip("hatchling")
    for_pypi = script(ROOT / "hatch_build.py").for_pypi
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    relative = re.compile(r"\]\((?!https?:|#)")
    assert relative.search(text)
    for home in ("", "https://example.org/kaskade/"):
        shown = for_pypi(text, home)
        assert not relative.search(shown)
        assert ("https://example.org/kaskade/blob/HEAD/docs/running.md" in shown) == bool(home)
    assert for_pypi("![a b](c/d.svg) [e](f.md#g) [h](https://i)", "https://j") == (
        "![a b](https://j/raw/HEAD/c/d.svg) [e](https://j/blob/HEAD/f.md#g) [h](https://i)"
    )
    assert for_pypi("a [e](f.md) b", "") == "a e b"


@pytest.mark.slow
def test_the_sdist_has_all_that_is_tracked_and_a_wheel_can_be_made_of_it(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path), "-t"]
    subprocess.run([*build, "sdist"], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
        file.extractall(tmp_path / "source", filter="data")
    for needed in (
        "pyproject.toml",
        "tests/test_house.py",
        ".ci/run",
        "ggp/py.typed",
        "games/README.md",
        *LOCKS,
    ):
        assert needed in names
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode == 0:  # in a clone, not in an sdist
        assert set(tracked.stdout.splitlines()) - names <= {".gitignore"}
    (source,) = (tmp_path / "source").iterdir()
    subprocess.run([*build, "wheel"], cwd=source, check=True, capture_output=True)
    assert len(list(tmp_path.glob("*.whl"))) == 1


def test_the_audit_fails_for_known_faults_and_says_when_it_could_not_look() -> None:
    verdict = script(ROOT / ".ci" / "audit.py").verdict

    def report(*packages: dict[str, object]) -> str:
        return json.dumps({"dependencies": [{"name": "n", "version": "1", **p} for p in packages]})

    clean: dict[str, object] = {"vulns": []}
    fault = {"vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}
    unknown = {"skip_reason": "not found"}
    assert verdict(report(clean, clean))[0] == 0
    status, lines = verdict(report(clean, unknown, fault))
    assert status == 1
    assert lines[0] == "n 1: CVE-1, mended in 2"
    for useless in ("", report(unknown, unknown), report()):
        status, (line,) = verdict(useless)
        assert status == 0
        assert "skipped" in line
