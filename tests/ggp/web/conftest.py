"""A server of pages, and a real browser."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from players.processes.lifeline import children
from tests.fork_server import ForkServer
from tests.ggp.web.pages import Client, WebServer, client_of, end_web, start_web
from tests.waiting import until

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1200,1000"
)


@pytest.fixture(autouse=True)
def _forks(forks: None) -> None:
    """Pages fork their processes."""


def _below(pid: int, others: set[int]) -> set[int]:
    """The processes below a process, without some of its children and what is below them."""
    found = set(children(pid)) - others
    return found.union(*(_below(one, others) for one in found))


@pytest.fixture
def client(loop: asyncio.Runner, _fork_server: ForkServer | None) -> Iterator[Client]:
    """A client of the page's application, which leaves no process behind.

    The browser and the servers that other tests have started do as they like meanwhile.
    """
    forks = {_fork_server.first.pid} if _fork_server is not None else set()
    others = set(children(os.getpid())) - forks
    before = _below(os.getpid(), others)
    opened = client_of()
    yield loop.run(opened.__aenter__())
    loop.run(opened.__aexit__(None, None, None))
    until(lambda: _below(os.getpid(), others) <= before)


@pytest.fixture(scope="session")
def web() -> Iterator[WebServer]:
    """Starts ``ggp web`` with some options, once for the same ones; gives its address."""
    running: dict[tuple[str, ...], tuple[subprocess.Popen[str], str]] = {}

    def start(*options: str) -> str:
        if options not in running:
            running[options] = start_web("web", "--port", "0", *options)
        return running[options][1]

    yield start
    for server, _ in running.values():
        end_web(server)


@pytest.fixture(scope="session")
def _driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    browser, driver = (shutil.which(name) for name in ("chromium", "chromedriver"))
    if browser is None or driver is None:
        pytest.skip("no chromium with its chromedriver on this computer")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options, webdriver.ChromeService(driver))
    chrome.set_page_load_timeout(60)
    yield chrome
    chrome.quit()


@pytest.fixture
def browser(_driver: Any) -> Iterator[Any]:
    """A real browser; pages may neither fail nor break their policy."""
    _driver.get("about:blank")
    _driver.get_log("browser")
    yield _driver
    faults = [entry["message"] for entry in _driver.get_log("browser") if entry["level"] == "SEVERE"]
    _driver.get("about:blank")
    assert not faults
