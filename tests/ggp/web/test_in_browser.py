"""Pages in a real browser: messages, the editor, and addresses of a network."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.ggp.web.pages import WebServer, wait

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver import Keys

REFUSED = """const old = window.fetch; window.fetch = (path, options) => options?.method === "POST"
  ? Promise.resolve(new Response('{"error": "refused"}', {status: 400})) : old(path, options);"""
DISTANCE = """const box = (one) => document.querySelector(one).getBoundingClientRect();
const [a, b] = ["#error", arguments[0]].map(box);
return Math.max(0, a.top - b.bottom, b.top - a.bottom)"""
RULES = [
    ("/rules?game=tictactoe", f"#{name}")
    for name in ("play", "solve", "rehearse", "format", "scramble", "draw")
]
NEAR = 60  # pixels


@pytest.mark.parametrize(
    ("path", "button"),
    [
        ("/", "#now"),
        ("/play", "#read"),
        ("/puzzles", "#read"),
        ("/play?game=connectfour", "#start"),
        ("/play?game=eightpuzzle", "#start"),
        ("/puzzles?game=eightpuzzle", "#solve"),
        *RULES,
    ],
)
def test_a_message_stands_beside_the_button(web: WebServer, browser: Any, path: str, button: str) -> None:
    browser.get(f"{web()}{path}")
    wait(browser, f"document.querySelector('{button}')")
    wait(browser, "document.querySelector('main').children.length > 1")
    browser.execute_script(REFUSED)
    browser.execute_script(f"document.querySelector({json.dumps(button)}).click()")
    wait(browser, "document.querySelector('#error:not([hidden])').textContent === 'refused'")
    assert browser.execute_script(DISTANCE, button) < NEAR


def test_what_nobody_has_caused_is_said_on_top(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/play")
    wait(browser, "document.querySelector('#read')")
    browser.execute_script("import('/static/page.js').then((page) => page.fail(new Error('gone')))")
    wait(browser, "document.querySelector('main').firstElementChild.textContent === 'gone'")


def test_the_bar_of_a_puzzle_moves_before_its_search_begins(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/puzzles")
    wait(browser, "document.querySelector('#filter')")
    browser.execute_script("document.body.append(document.createElement('main'))")
    made = "document.querySelector('main:last-of-type')"
    told = {"puzzle": "none", "seconds": 20, "source": {}}
    browser.execute_script(
        f"import('/static/puzzles.js').then((one) => one.show({made}, arguments[0]))", told
    )
    assert wait(browser, f"{made}.querySelector('progress').position") == -1
    browser.get_log("browser")  # that there is no such puzzle


# --- The editor in a real browser: findings at their places as one types, and everything by keys alone
PLACES = """
const top = (one) => one.getBoundingClientRect().top;
const numbers = [...document.querySelectorAll('.numbers span')].map(top);
const marks = [...document.querySelectorAll('.marks mark')].map(top);
const near = (mark) => numbers.reduce((a, b) => (Math.abs(b - mark) < Math.abs(a - mark) ? b : a), -99);
return marks.map((mark) => [mark, near(mark)]);
"""


def test_a_finding_appears_where_it_was_typed_and_leads_there(web: WebServer, browser: Any) -> None:
    address = web()
    browser.get(f"{address}/rules?game=tictactoe")
    wait(browser, "document.querySelector('.status').textContent.startsWith('1 note')")
    editor = browser.find_element("id", "editor")
    editor.send_keys(Keys.CONTROL, Keys.END)
    editor.send_keys(Keys.ENTER + "(<= (legal x (mark ?a b)) (true (control x)))" + Keys.ENTER)
    wait(browser, "document.querySelector('.finding-warning')")
    last = browser.execute_script(
        "return document.querySelector('#editor').value.trimEnd().split('\\n').length"
    )
    texts = browser.execute_script(
        "return [...document.querySelectorAll('.findings button')].map((b) => b.textContent)"
    )
    assert any(text.startswith(f"{last}:") and "?a" in text for text in texts), texts
    marked = browser.execute_script(
        "return [...document.querySelectorAll('.numbers .mark-warning')].map((m) => m.textContent)"
    )
    assert f"{last}\n" in marked
    # To the text of the finding by keys: F8 from the first line.
    editor.send_keys(Keys.CONTROL, Keys.HOME)
    editor.send_keys(Keys.SHIFT, Keys.F8)
    place = (
        "(() => { const a = document.querySelector('#editor');"
        " return a.value.slice(a.selectionStart, a.selectionEnd) })()"
    )
    assert browser.execute_script(f"return {place}").startswith("(")
    browser.execute_script("document.querySelector('.findings button').click()")
    assert browser.execute_script(f"return {place}")
    # What cannot be read is an error.
    editor.send_keys(Keys.CONTROL, Keys.END)
    editor.send_keys("(")
    wait(browser, "document.querySelector('.finding-error')")
    editor.send_keys(Keys.BACKSPACE)
    wait(browser, "!document.querySelector('.finding-error')")
    # What is below the words stands beside its line's number, wherever one has scrolled to.
    for down in (0, 40, 333, 9999):
        browser.execute_script(f"document.querySelector('#editor').scrollTop = {down}")
        time.sleep(0.1)
        places = browser.execute_script(PLACES)
        assert all(abs(mark - number) < 4 for mark, number in places), places
    assert places


def test_files_of_all_line_ends_and_encodings_are_opened(
    web: WebServer, browser: Any, tmp_path: Path
) -> None:
    text = "(role caf\u00e9) ; one\n(init p)"
    browser.get(f"{web()}/rules?game=tictactoe")
    wait(browser, "document.querySelector('#editor').value.length > 200")
    for number, data in enumerate(
        (
            text.replace("\n", "\r").encode(),
            b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
            text.encode("utf-16"),
            text.encode("latin-1"),
        )
    ):
        path = tmp_path / f"{number}.kif"
        path.write_bytes(data)
        browser.execute_script("document.querySelector('#editor').value = ''")
        browser.find_element("css selector", "input[type=file]").send_keys(str(path))
        wait(browser, "document.querySelector('#editor').value !== ''")
        assert browser.execute_script("return document.querySelector('#editor').value") == text


def test_rules_are_rewritten_drawn_and_handed_over_by_keys(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/rules")
    wait(browser, "document.querySelector('#editor')")
    browser.find_element("id", "game").send_keys("nim" + Keys.ENTER)
    wait(browser, "document.querySelector('#editor').value.includes('(role')")
    press = lambda name: browser.find_element("id", name).send_keys(Keys.ENTER)  # noqa: E731
    press("infix")
    wait(browser, "document.querySelector('#editor').value.includes(':-')")
    wait(browser, "document.querySelector('.status').textContent.includes('infix')")
    wait(browser, "!document.querySelector('main').hasAttribute('aria-busy')")
    press("draw")
    wait(browser, "document.querySelector('#of')")
    wait(browser, "document.activeElement.id === 'of'")
    press("play")
    wait(
        browser, "location.pathname.startsWith('/play/') && document.querySelector('.gb-may, .moves button')"
    )


def test_names_that_look_like_markup_stay_text_at_a_phones_width(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/rules")
    wait(browser, "document.querySelector('#editor')")
    size = browser.get_window_size()
    browser.set_window_size(400, 800)
    try:
        browser.execute_script(
            "const a = document.querySelector('#editor');"
            "a.value = '(role <img/src=x/onerror=alert(1)>) (<= (legal <b> ?<i>))';"
            "a.dispatchEvent(new Event('input'))"
        )
        wait(browser, "document.querySelector('.findings li')")
        assert not browser.execute_script("return document.querySelector('main img, main b, main i')")
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    finally:
        browser.set_window_size(size["width"], size["height"])


# --- Pages work at a plain address of a network, to which browsers do not say where a request comes from
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
