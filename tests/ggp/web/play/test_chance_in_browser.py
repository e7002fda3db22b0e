"""Games with chance and with hidden information in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ggp.web.browsing import WebServer, open_table

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.slow


def against_random(browser: Any, address: str, game: str) -> None:
    """A table at which others move at random."""
    open_table(browser, address, game, ["human"])
    waited(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".names li"))


def opened(browser: Any, address: str, game: str) -> None:
    """A table, from the card of a game."""
    browser.get(f"{address}/play?game={game}")
    waited(browser, lambda: browser.find_elements(By.ID, "start"))[0].click()
    waited(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".names li"))


def waited(browser: Any, done: Any) -> Any:
    return WebDriverWait(browser, 150).until(lambda _: done())


def text(browser: Any, where: str) -> str:
    return " ".join(element.text for element in browser.find_elements(By.CSS_SELECTOR, where))


def my_turn(browser: Any) -> bool:
    return "Your turn" in text(browser, ".status") or "over" in text(browser, ".status")


ARROWS = {"left": Keys.ARROW_LEFT, "right": Keys.ARROW_RIGHT, "up": Keys.ARROW_UP, "down": Keys.ARROW_DOWN}


def test_2048_is_played_with_arrow_keys_and_the_server_puts_the_tiles(web: WebServer, browser: Any) -> None:
    opened(browser, web(), "twentyfortyeight")
    assert "chance" in text(browser, ".names")
    for move in range(6):
        step = 2 + 2 * move  # two tiles are put before the first move, one after each
        waited(browser, lambda step=step: f"step {step} of {step}" in text(browser, ".steps output"))
        waited(browser, lambda: my_turn(browser))
        legal = text(browser, ".offered button").split()
        browser.find_element(By.TAG_NAME, "body").send_keys(ARROWS[legal[move % len(legal)]])
    waited(browser, lambda: "step 14 of 14" in text(browser, ".steps output"))


def shows_the_other(browser: Any) -> bool:
    """Whether the card of the second player is drawn."""
    drawn = text(browser, ".board svg")
    return any(f"second {card}" in drawn for card in ("jack", "queen", "king"))


def test_who_plays_kuhn_poker_sees_the_own_card_and_after_the_end_both(web: WebServer, browser: Any) -> None:
    against_random(browser, web(), "kuhn")
    waited(browser, lambda: my_turn(browser))
    own = text(browser, ".known .percept").split()[-1]
    assert own in text(browser, ".board svg") and not shows_the_other(browser)
    assert "2 states" in text(browser, ".known")
    assert not browser.find_element(By.CSS_SELECTOR, "[data-order=back]").is_displayed()
    while "over" not in text(browser, ".status"):
        for button in browser.find_elements(By.CSS_SELECTOR, ".offered button")[:1]:
            browser.execute_script("arguments[0].click()", button)
    waited(browser, lambda: shows_the_other(browser))
    browser.find_element(By.ID, "look-back").click()
    waited(browser, lambda: "Looking back" in text(browser, ".status"))
    assert shows_the_other(browser)
    browser.find_elements(By.CSS_SELECTOR, "#see-as option")[1].click()
    waited(browser, lambda: not shows_the_other(browser))


def test_squares_are_shaded_by_how_likely_something_stands_there(web: WebServer, browser: Any) -> None:
    against_random(browser, web(), "phantomconnect")
    waited(browser, lambda: my_turn(browser))
    browser.find_element(By.TAG_NAME, "body").send_keys("4")
    waited(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".gb-shade")) == 7)
    browser.find_element(By.ID, "shades").click()
    waited(browser, lambda: not browser.find_elements(By.CSS_SELECTOR, ".gb-shade"))
