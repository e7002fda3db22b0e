"""Fixtures that several packages share, and which of the slow tests a run takes.

Tests that take more than a few seconds, because processes are killed, matches waited for, browsers opened or
much tried at random, are marked ``slow``. A run leaves them out, takes all (``--slow all``), or a sixth of
them (``--slow turn``), chosen by the hash of the commit. CI does that: each runs in a sixth of the commits.
Of the examples of a property a run tries a third, all of them only with ``--slow all``.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from players.processes import launch
from tests.examples import try_share
from tests.fork_server import ForkServer, import_all
from tests.places import CORPUS, LEVELS, ROOT

# Tests start hundreds of interpreters. Bytecode is kept beside the kernels, in ``__pycache__``, even where
# Python was told not to write any: or else each interpreter compiles all modules that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--slow``."""
    parser.addoption(
        "--slow", choices=("none", "turn", "all"), default="none", help="which of the slow tests"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Properties are tried with the share of their examples that this run takes."""
    try_share(config.getoption("--slow"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays: no garbage is looked for in it, which would take a second each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests that this run does not take."""
    slow = [item for item in items if item.get_closest_marker("slow")]
    which = config.getoption("--slow")
    left_out = set(slow) - set(chosen(slow, which, commit() if which == "turn" else 0))
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


SLOW_TURNS = 6
"""The number of parts of the slow tests; the commit's hash, modulo it, is the part that a run takes."""


def chosen(slow: Iterable[pytest.Item], which: str, number: int) -> list[pytest.Item]:
    """Those of the slow tests that a run of the commit of this number takes."""
    if which == "turn":
        return [item for item in slow if zlib.crc32(item.nodeid.encode()) % SLOW_TURNS == number % SLOW_TURNS]
    return list(slow) if which == "all" else []


def commit() -> int:
    """The number of the commit that is tested. Raises pytest.UsageError where there is none."""
    try:
        told = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        raise pytest.UsageError("--slow turn needs git and a commit: use --slow all") from None
    return int(told.stdout, 16)


TOGETHER = {"tests/ggp/boards/": "boards", "tests/ggp/web/": "pages"}
"""Folders whose tests share what takes seconds: boards that are found, a browser, servers of pages."""


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file run in one process, in order, for they share what they make."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return next((group for folder, group in TOGETHER.items() if file.startswith(folder)), file)

        def remove_node(self, node: Any) -> Any:
            """A test that ends its process is not tried again: it would end the next one as well."""
            for tests in self.assigned_work[node].values():
                for test, done in tests.items():
                    if not done:
                        tests[test] = True
                        super().remove_node(node)
                        return test
            return super().remove_node(node)

        def schedule(self) -> None:
            """A process that takes the place of one that has ended waits with its only test until there is a
            second one, or it is told that there is none."""
            super().schedule()
            for node in self.nodes:
                self._reschedule(node)

    return ByFile(config, log)


def pytest_xdist_auto_num_workers() -> int:
    """Two processes a core: more than half of the time tests wait, for clocks and for other processes."""
    return 2 * len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2 * (os.cpu_count() or 1)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled games are kept for these tests only, in subprocesses too; all workers share them."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    cache = folder / "cache"
    cache.mkdir(exist_ok=True, mode=0o700)
    os.environ["GGP_CACHE"] = str(cache)


@pytest.fixture(autouse=True)
def _own_environment() -> Iterator[None]:
    """Variables that a test sets, or the code under test (the token of a cluster), end with the test."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(scope="session", autouse=True)
def _heeds_ctrl_c() -> None:
    """What a script runs in the background ignores Ctrl-C, and so do its subprocesses; tests stop some so."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def _fork_server() -> Iterator[ForkServer | None]:
    if not launch.FORKS:
        yield None
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "tests" / "ggp" / "server"), prepend=os.pathsep)
        server = ForkServer(f"{import_all.__module__}:{import_all.__name__}")
    launch.use(None)
    yield server
    server.close()


@pytest.fixture
def forks(_fork_server: ForkServer | None) -> Iterator[None]:
    """Processes that a test has started are forked, as in the servers that people run, for imports take a
    second each time. They have the environment in which this run of the tests began."""
    if _fork_server is not None:
        launch.use(_fork_server.sockets[1])
    yield
    launch.use(None)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder with the public games (``games/``) and their traces (``traces/``)."""
    if not (CORPUS / "games").is_dir():
        pytest.skip(f"no corpus at {CORPUS}: set GGP_CORPUS")
    return CORPUS


@pytest.fixture(scope="session")
def corpus_games(corpus: Path) -> list[Path]:
    """The rules files of all public games, sorted by name."""
    return sorted((corpus / "games").glob("*.kif"))


@pytest.fixture(scope="session")
def levels() -> Path:
    """The folder with public levels of Sokoban, beside the corpus."""
    if not LEVELS.is_dir():
        pytest.skip(f"no levels at {LEVELS}: they are looked for beside $GGP_CORPUS")
    return LEVELS


@pytest.fixture(scope="session")
def microban(levels: Path) -> Path:
    """155 small levels that people made."""
    return levels / "Microban_I.xsb"
