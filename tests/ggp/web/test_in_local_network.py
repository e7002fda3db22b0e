"""Pages work at a plain address of a network, to which browsers do not say where a request comes from."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from tests.ggp.web.browsing import WebServer, wait


def own_address() -> str:
    """An address of this computer that others reach."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this computer is in no network")
        address = str(asked.getsockname()[0])
    if address.startswith("127."):
        pytest.skip("this computer has no address but its own")
    return address


LISTENS = """
const told = arguments[arguments.length - 1];
const source = new EventSource("/watch/events");
source.addEventListener("list", () => told("heard"));
source.onerror = () => told("refused");
"""


@pytest.mark.slow
def test_fetched_data_posts_and_events_come_at_an_address_in_numbers(web: WebServer, browser: Any) -> None:
    address = web("--host", "0.0.0.0").replace("localhost", own_address())
    browser.get(f"{address}/rules?game=tictactoe")
    wait(browser, "document.querySelector('.status').textContent.startsWith('1 note')")
    browser.set_script_timeout(60)
    assert browser.execute_async_script(LISTENS) == "heard"
    # One header is for https, and the browser says so.
    told = [entry["message"] for entry in browser.get_log("browser")]
    assert all("Cross-Origin-Opener-Policy" in message for message in told), told
