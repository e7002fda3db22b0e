"""The editor in a real browser: findings at their places as one types, and everything by keys alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.ggp.web.browsing import WebServer, wait

PLACES = """
const top = (one) => one.getBoundingClientRect().top;
const numbers = [...document.querySelectorAll('.numbers span')].map(top);
const marks = [...document.querySelectorAll('.marks mark')].map(top);
const near = (mark) => numbers.reduce((a, b) => (Math.abs(b - mark) < Math.abs(a - mark) ? b : a), -99);
return marks.map((mark) => [mark, near(mark)]);
"""


def test_a_finding_appears_where_it_was_typed_and_leads_there(web: WebServer, browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

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
    from selenium.webdriver.common.keys import Keys

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
