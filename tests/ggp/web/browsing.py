"""What tests in a real browser share."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

WebServer = Callable[..., str]
OPEN = """
const [path, order, done] = arguments;
const headers = {'X-Ggp-Token': document.querySelector('meta[name=token]').content};
fetch(path, {method: 'POST', headers, body: JSON.stringify(order)})
  .then((reply) => reply.json()).then((told) => done(told.page ?? told.error));
"""


def start_web(*words: str) -> tuple[subprocess.Popen[str], str]:
    """``ggp`` with these words, which serves pages, and the address that it tells."""
    server = subprocess.Popen([sys.executable, "-m", "ggp", *words], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return server, server.stdout.readline().partition("open ")[2].partition(" ")[0].rstrip("/")


def end_web(server: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM) -> None:
    """End it, in order if by SIGTERM."""
    server.send_signal(number)
    assert server.wait(20) == (0 if number == signal.SIGTERM else -number)
    assert server.stdout is not None
    server.stdout.close()


def wait(browser: Any, script: str, seconds: float = 90.0) -> Any:
    """The value of a script, once it is one; what fails is tried again."""
    end = time.monotonic() + seconds
    while not (found := browser.execute_script(f"try {{ return {script} }} catch {{ return null }}")):
        assert time.monotonic() < end, script
        time.sleep(0.03)
    return found


def until(browser: Any, script: str, wanted: object) -> None:
    """Wait until a script has this value."""
    wait(browser, f"({script}) === {json.dumps(wanted)}")


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def order(browser: Any, address: str, path: str, **fields: object) -> None:
    """Post an order as pages do, and open the page that is the answer."""
    browser.get(f"{address}/play")
    browser.set_script_timeout(60)
    page = browser.execute_async_script(OPEN, path, fields)
    assert page.startswith("/"), page
    browser.get(address + page)


def open_table(browser: Any, address: str, game: str, seats: list[str], rules: str = "") -> None:
    """A table at which others move at random."""
    more = {"others": "random", "playclock": 0.1}
    order(browser, address, "/play/tables", game=game, rules=rules, seats=seats, **more)
