"""A match is watched in a real browser while the server of pages is killed and comes back."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Programs:
    """Processes of ``ggp`` that end with the test."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, line: str) -> tuple[subprocess.Popen[str], str]:
        """Start one; the first line that holds this text."""
        command = [sys.executable, "-m", "ggp", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.running.append(process)
        assert process.stdout is not None
        for told in process.stdout:
            if line in told:
                return process, told
        raise AssertionError(f"{arguments} ended")


@pytest.fixture
def programs() -> Iterator[Programs]:
    made = Programs()
    yield made
    for process in made.running:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def step(browser: Any) -> int:
    return int(browser.execute_script("return document.querySelector('.board')?.dataset.step ?? -1"))


def until_step(browser: Any, least: int) -> int:
    end = time.monotonic() + 60
    while (seen := step(browser)) < least:
        assert time.monotonic() < end, seen
        time.sleep(0.05)
    return seen


def test_a_match_is_watched_while_the_server_is_killed_and_comes_back(
    programs: Programs, browser: Any, tmp_path: Path
) -> None:
    _, told = programs.start("serve", "--port", "0", "--player", "uct:workers=0", line="listening")
    player = re.search(r"port=(\d+)", told)
    assert player is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    watching = ["web", "--port", port, "--watch", f"127.0.0.1:{player[1]}"]
    server, _ = programs.start(*watching, line="open")
    match = ["host", "hex", "-p", f"127.0.0.1:{player[1]},random", "--startclock", "2", "--playclock", "1"]
    programs.start(*match, "--match-id", "watched", line="hex")
    browser.get(f"http://127.0.0.1:{port}/watch")
    end = time.monotonic() + 30
    while not (links := browser.find_elements("css selector", "td a")):
        assert time.monotonic() < end
        time.sleep(0.05)
    browser.get(links[0].get_attribute("href"))
    seen = until_step(browser, 2)
    assert browser.execute_script("return document.querySelector('h1').textContent") == "watched"
    server.kill()
    server.wait()
    time.sleep(1.5)
    programs.start(*watching, line="open")
    later = until_step(browser, seen + 2)
    shown = browser.execute_script("return document.querySelectorAll('.history li').length")
    assert shown - 1 >= later
    stones = browser.execute_script("return document.querySelectorAll('.board .gb-disc').length")
    assert stones >= later - 1
    browser.get_log("browser")  # the browser itself tells that the server was away
