"""A puzzle is chosen, solved and played on the board in a real browser, by keys alone."""

from __future__ import annotations

from typing import Any

from tests.ggp.web.browsing import WebServer, wait


def test_a_puzzle_is_solved_and_its_line_is_played(web: WebServer, browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.get(f"{web()}/puzzles")
    wait(browser, "document.querySelector('#filter')")
    browser.find_element("id", "filter").send_keys("hanoi" + Keys.ENTER)
    wait(browser, "document.querySelector('#solve')")
    browser.find_element("id", "solve").send_keys(Keys.ENTER)
    wait(browser, "document.querySelector('.status').textContent.startsWith('Solved in ')")
    assert "31 moves" in browser.find_element("css selector", ".status").text
    # It plays at once.
    wait(browser, "parseInt(document.querySelector('output').textContent.slice(5)) > 1")
    body = browser.find_element("tag name", "body")
    body.send_keys(Keys.END)
    wait(browser, "document.querySelector('output').textContent === 'step 31 of 31'")
    wait(browser, "document.querySelector('.board svg')")
    last = browser.execute_script("return document.querySelector('.board').innerHTML")
    wait(browser, "document.querySelector('#toggle').textContent === 'Play'")
    body.send_keys(Keys.HOME + Keys.RIGHT)
    wait(browser, "document.querySelector('output').textContent === 'step 1 of 31'")
    body.send_keys(" ")
    wait(browser, "parseInt(document.querySelector('output').textContent.slice(5)) > 3")
    body.send_keys(" ")
    assert browser.execute_script("return document.querySelector('.board').innerHTML") != last
