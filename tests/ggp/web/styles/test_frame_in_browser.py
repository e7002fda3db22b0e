"""A stylesheet's drawing in a real browser: it is seen, runs nothing, asks for nothing."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lxml", reason="lxml is not installed: extra styles")
WebServer = Callable[..., str]
HEAD = (
    '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">'
)
TABLE = """
const done = arguments[0];
const token = document.querySelector('meta[name=token]').content;
fetch('/play/tables', {method: 'POST', headers: {'X-Ggp-Token': token},
  body: JSON.stringify({game: 'tictactoe', seats: ['human', 'human']})})
  .then((reply) => reply.json()).then((told) => done(told.page ?? told.error));
"""


@pytest.fixture
def outside() -> Iterator[tuple[int, list[bytes]]]:
    """A server that is none of ours: its port, and what it was sent."""
    heard: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def listen() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(1.0)
                heard.append(b"connection")
                with contextlib.suppress(TimeoutError):
                    heard[-1] = connection.recv(1000)

    threading.Thread(target=listen, daemon=True).start()
    yield listener.getsockname()[1], heard
    listener.close()


@pytest.mark.slow
def test_a_drawing_is_seen_and_no_request_leaves_for_it(
    web: WebServer, browser: Any, tmp_path: Path, outside: tuple[int, list[bytes]]
) -> None:
    port, heard = outside
    there = f"http://127.0.0.1:{port}"
    body = (
        f'<p id="seen"><xsl:value-of select="count(state/fact)"/> facts</p><img src="{there}/a.png"/>'
        f"<style>#seen {{ background: url({there}/b.png); color: rgb(1, 2, 3); }}</style>"
        f'<link rel="preconnect" href="{there}"/><script>document.title = "run"</script>'
        f'<p onclick="document.title = 1" id="click"><a href="{there}/c" id="away">away</a>'
        f'<a href="#seen" id="inside">inside</a></p>'
        f'<xsl:text disable-output-escaping="yes">&lt;iframe src="{there}/d"&gt;&lt;/iframe&gt;</xsl:text>'
    )
    (tmp_path / "ticTacToe.xsl").write_text(f"{HEAD}<div>{body}</div></xsl:template></xsl:stylesheet>")
    address = web("--styles", str(tmp_path))
    browser.get(f"{address}/play")
    browser.set_script_timeout(60)
    page = browser.execute_async_script(TABLE)
    assert page.startswith("/play/"), page
    browser.get(address + page)
    end = time.monotonic() + 30
    while not browser.execute_script("return document.querySelector('.styled iframe')?.src ?? ''"):
        assert time.monotonic() < end
        time.sleep(0.05)
    frame = browser.find_element("css selector", ".styled iframe")
    assert frame.get_attribute("sandbox") == ""
    browser.switch_to.frame(frame)
    try:
        while not browser.find_elements("id", "seen"):
            assert time.monotonic() < end
            time.sleep(0.05)
        seen = browser.find_element("id", "seen")
        assert seen.text == "1 facts"
        assert seen.value_of_css_property("color") == "rgba(1, 2, 3, 1)"
        time.sleep(0.3)
        assert not heard
        browser.find_element("id", "click").click()
        browser.find_element("id", "away").click()
        browser.find_element("id", "inside").click()
        time.sleep(0.3)
        assert browser.execute_script("return document.title") != "run"
    finally:
        browser.switch_to.default_content()
    assert not heard
