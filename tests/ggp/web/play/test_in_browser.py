"""Games are chosen and played to the end in a real browser, by clicks, drags, keys and digits."""

from __future__ import annotations

import base64
import json
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.ggp.web.pages import WebServer, end_web, open_table, order, press, start_web, wait
from tests.waiting import until

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By

FIND = """
const shown = (e) => e.offsetParent !== null || e instanceof SVGElement;
const pick = (css) => [...document.querySelectorAll(css)].filter(shown);
const text = (css) => document.querySelector(css)?.textContent ?? '';
const end = text('.banner:not([hidden]) .goals');
return [end ? 'Over: ' + end : text('.status'), text('output'),
  pick('.gb-may:not(.gb-chosen)'), pick('.offered [data-move]'),
  document.querySelectorAll('.gb-chosen').length];
"""


def look(browser: Any, done: Callable[[list[Any]], bool], seconds: float = 60.0) -> list[Any]:
    end = time.monotonic() + seconds
    while True:
        seen: list[Any] = browser.execute_script(FIND)
        if done(seen):
            return seen
        assert time.monotonic() < end, seen[:2]
        time.sleep(0.02)


def has_moved_on(before: list[Any], now: list[Any]) -> bool:
    return now[0].startswith("Over") or now[1:] != before[1:]


def play_by_clicks(browser: Any, rng: random.Random, most: int) -> tuple[str, int]:
    """Click at random until the match is over; its result, and how many clicks that took."""
    clicks = 0
    while True:
        seen = look(browser, lambda s: s[0].startswith("Over") or bool(s[2]) or bool(s[3]))
        if seen[0].startswith("Over"):
            return seen[0], clicks
        clicks += 1
        assert clicks < most
        browser.execute_script(
            "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))",
            rng.choice(seen[3] or seen[2]),
        )
        look(browser, partial(has_moved_on, seen))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "seats", "most"),
    [
        ("kalah", ["random", "human"], 100),
        ("prisonersdilemma", ["human", "human"], 40),
        ("nim", ["human", "human"], 20),
    ],
)
def test_a_game_is_played_to_its_end_from_the_other_seat_or_from_both(
    web: WebServer, browser: Any, game: str, seats: list[str], most: int
) -> None:
    open_table(browser, web(), game, seats)
    result, clicks = play_by_clicks(browser, random.Random(1), most)
    assert result.startswith("Over: ")
    assert clicks >= 3


@pytest.mark.slow
def test_sizes_are_chosen_before_a_match(web: WebServer, browser: Any) -> None:
    """The address names a size; the field has the limits of the game; the board is that of the size."""
    browser.get(f"{web()}/play?game=hex:4")
    field = wait(browser, "document.querySelector('.sizes input')")
    assert [field.get_attribute(name) for name in ("value", "min", "max")] == ["4", "3", "19"]
    browser.execute_script("arguments[0].value = 30; document.querySelector('#start').click()", field)
    assert browser.current_url.endswith("/play?game=hex:4")
    browser.execute_script("arguments[0].value = 5; document.querySelector('#start').click()", field)
    look(browser, lambda seen: len(seen[2]) == 25)


def click(browser: Any, css: str) -> None:
    browser.execute_script(
        "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))",
        wait(browser, f"document.querySelector({json.dumps(css)})"),
    )


def square_of(browser: Any, words: str) -> str:
    """CSS of the square whose title says this."""
    keys = browser.execute_script(
        "return [...document.querySelectorAll('[data-square]')]"
        ".filter((s) => s.querySelector('title')?.textContent.includes(arguments[0]))"
        ".map((s) => s.dataset.square)",
        words,
    )
    assert len(keys) == 1, (words, keys)
    return f'[data-square="{keys[0]}"]'


@pytest.mark.slow
def test_a_game_is_played_to_its_end_by_keys_alone(web: WebServer, browser: Any) -> None:
    """Tab and Enter choose squares; the list is filtered by typing; what people want else has letters."""
    browser.get(f"{web()}/play")
    wait(browser, "document.querySelector('#filter')").send_keys("tic-tac", Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "start"
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    look(browser, lambda s: len(s[2]) == 9)
    browser.execute_script("document.body.focus()")
    for _ in range(40):
        press(browser, Keys.TAB)
        if browser.execute_script("return document.activeElement.matches('.gb-may')"):
            break
    press(browser, Keys.ARROW_RIGHT, Keys.ENTER)
    look(browser, lambda s: s[1].startswith("step 2 "))
    press(browser, "b")
    look(browser, lambda s: s[1].startswith("step 0 "))
    press(browser, "g")
    look(browser, lambda s: len(s[2]) == 9)
    while not look(browser, lambda s: s[0].startswith("Over") or bool(s[2]))[0].startswith("Over"):
        before = look(browser, lambda s: True)
        press(browser, "/", "mark", Keys.ENTER)
        look(browser, partial(has_moved_on, before))


PLACES = """
const middle = (box) => [box.left + box.width / 2, box.top + box.height / 2];
const of = (key) => document.querySelector(`.board [data-square="${key}"]`);
const square = (key) => middle(of(key).getBoundingClientRect());
const name = [...document.querySelectorAll('.board .gb-axis')].find((e) => e.textContent === 'a');
const found = [square('0,0,0'), square('0,7,7'), middle(name.getBoundingClientRect())];
return found.map((place) => place.map(Math.round));
"""


def test_the_board_turns_for_black_and_by_a_key(web: WebServer, browser: Any) -> None:
    open_table(browser, web(), "chess", ["legal", "human"])
    look(browser, lambda s: s[0].startswith("Your turn"))
    (a1x, a1y), (h8x, h8y), (name_x, name_y) = browser.execute_script(PLACES)
    assert a1x > h8x and a1y < h8y, "black sits below"
    assert abs(name_x - a1x) < 3 and name_y > h8y, "the letters stay below the board, under their columns"
    click(browser, square_of(browser, "b 7: bp") + ".gb-may")
    click(browser, square_of(browser, "b 6"))
    look(browser, lambda s: s[1].startswith("step 3 "))
    press(browser, "f")
    (a1x, a1y), (h8x, h8y), (name_x, _) = browser.execute_script(PLACES)
    assert a1x < h8x and a1y > h8y and abs(name_x - a1x) < 3
    press(browser, "s")
    look(browser, lambda s: s[0].startswith("Your turn (white)"))
    assert browser.execute_script(PLACES)[0][1] < browser.execute_script(PLACES)[1][1], "white's, by hand"


ASKED_AGAIN = """
window.again = false;
new MutationObserver(() => {
  const first = document.querySelector('output').textContent.startsWith('step 0 ');
  window.again ||= first && document.querySelector('.gb-may, .offered [data-move]') !== null;
}).observe(document.querySelector('.table'), {childList: true, subtree: true, attributes: true});
"""


@pytest.mark.slow
def test_who_has_chosen_is_not_asked_again_while_another_thinks(web: WebServer, browser: Any) -> None:
    fields = {"game": "prisonersdilemma", "seats": ["human", "uct"], "playclock": 3}
    order(browser, web(), "/play/tables", **fields)
    seen = look(browser, lambda s: s[1].startswith("step 0 ") and bool(s[2] or s[3]))
    browser.execute_script(ASKED_AGAIN)
    (seen[2] or seen[3])[0].click()
    look(browser, lambda s: s[1].startswith("step 1 "))
    assert not browser.execute_script("return window.again")


def test_names_of_strangers_are_text(web: WebServer, browser: Any) -> None:
    evil = "<img/src=x/onerror=document.title='hit'>"
    rules = (
        f"(role {evil}) (init (cell 1 1 {evil})) (init (cell 1 2 {evil}))"
        "(init (cell 2 1 b)) (init (cell 2 2 b))"
        f"(<= (legal {evil} (mark ?x ?y {evil})) (true (cell ?x ?y ?z)))"
        f"(<= (next (cell ?x ?y {evil})) (does {evil} (mark ?x ?y ?z))) (<= (next (cell ?x ?y ?w))"
        f"(true (cell ?x ?y ?w)) (does {evil} (mark ?u ?v ?z)) (distinct ?x ?u))"
        f"(<= terminal (not (true (cell 1 1 {evil})))) (goal {evil} 100)"
    )
    open_table(browser, web(), "", ["human"], rules)
    seen = look(browser, lambda s: bool(s[2]) or bool(s[3]))
    assert evil in browser.find_element("tag name", "body").text
    assert browser.execute_script("return document.querySelectorAll('main img').length") == 0
    assert seen and "hit" not in browser.title


COUNT = """
window.tones = 0;
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...when) { window.tones += 1; return start.apply(this, when); };
"""


def test_sounds_are_off_until_somebody_turns_them_on(web: WebServer, browser: Any) -> None:
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": COUNT})
    tones, pressed = "return window.tones", "return document.querySelector('#sound').ariaPressed"
    try:
        open_table(browser, web(), "tictactoe", ["human", "human"])
        look(browser, lambda s: bool(s[2]))
        click(browser, square_of(browser, "a 1") + ".gb-may")
        look(browser, lambda s: s[1].startswith("step 1 "))
        assert (browser.execute_script(pressed), browser.execute_script(tones)) == ("false", 0)
        browser.find_element("id", "sound").click()
        heard = browser.execute_script(tones)
        assert browser.execute_script(pressed) == "true" and heard > 0
        click(browser, square_of(browser, "b 2") + ".gb-may")
        look(browser, lambda s: s[1].startswith("step 2 "))
        assert browser.execute_script(tones) > heard
        browser.refresh()
        look(browser, lambda s: bool(s[2]))
        assert browser.execute_script(pressed) == "true"
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
        browser.execute_script("localStorage.clear()")


@pytest.mark.slow
def test_the_status_is_true_after_a_hint_a_pause_and_where_the_server_is_lost(browser: Any) -> None:

    def status(words: str) -> None:
        look(browser, lambda s: s[0].startswith(words), 150)

    server, address = start_web("web", "--port", "0")
    try:
        open_table(browser, address, "tictactoe", ["human", "random"])
        status("Your turn (x)")
        press(browser, "h")
        status("Hint: ")
        assert browser.find_elements("css selector", ".board .gb-hint")
        click(browser, square_of(browser, "b 2") + ".gb-may")
        look(browser, lambda s: s[1] == "step 2 of 2" and s[0] == "Your turn (x)")
        open_table(browser, address, "chess", ["uct", "uct"])
        look(browser, lambda s: s[1].startswith("step ") and not s[1].startswith("step 0 "))
        press(browser, "p")
        status("Paused. Press “Go on”.")
        paused = look(browser, lambda s: True)
        time.sleep(0.6)
        assert look(browser, lambda s: True)[:2] == paused[:2]
        press(browser, "p")
        look(browser, lambda s: s[1] != paused[1] and not s[0].startswith("Paused"))
        end_web(server, signal.SIGKILL)
        status("The server does not answer")
    finally:
        browser.get("about:blank")
        browser.get_log("browser")  # that the server was gone
        server.kill()


@pytest.mark.slow
def test_ggp_play_can_be_in_a_browser(browser: Any) -> None:
    server, address = start_web("play", "tictactoe", "-p", "human,legal", "--web")
    try:
        browser.get(address)
        result, _ = play_by_clicks(browser, random.Random(1), 20)
        assert result.startswith("Over: ")
        browser.get("about:blank")
    finally:
        end_web(server)


# --- Games are chosen by their cards and played as a person plays them; what a person brings is played too
SQUARE = """
return [...document.querySelectorAll('[data-square]')].find((square) => {
  const title = square.querySelector('title').textContent;
  return title === arguments[0] || title.startsWith(arguments[0] + ':');
});
"""
DROP = """
const [name, data] = arguments;
const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
const transfer = new DataTransfer();
transfer.items.add(new File([bytes], name));
document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, bubbles: true, cancelable: true}));
"""
STEP = "document.querySelector('output').textContent"
MORRIS = """
b4 a4 d5 d2 d7 c5 d6 a4 d1 c4 f6 a4 f6 f4 e4 e3 b2 f2 b6 f2 g7 d6-f6 f4-g4 f6-d6 d1 g4-g1 d7-a7 d2-f2 a7-d7 g7
f2-d2 d6-f6 e3-d3 d5-d6 c5 g1-c5 e4-e5 d3-f4 e5-d5 c5
"""
"""Places, moves and takes of both sides: all stones are placed, mills close again and again, black flies."""
BANNER = "document.querySelector('.banner:not([hidden]) h2')?.textContent"


def choose(browser: Any, address: str, title: str, against: str = "page") -> None:
    """The card of this title, the sheet's usual side, an opponent (the page at its lowest level); wait."""
    browser.get(f"{address}/play")
    titles = "[...document.querySelectorAll('.card strong')].map((s) => s.textContent)"
    wait(browser, f"{titles}.includes({json.dumps(title)})")
    browser.execute_script(
        "[...document.querySelectorAll('.card')].find((card) => card.querySelector('strong').textContent"
        " === arguments[0]).click()",
        title,
    )
    wait(browser, "document.querySelector('dialog[open] #start')")
    if browser.find_elements("css selector", f"dialog input[value={against}]"):
        browser.execute_script("const level = document.getElementById('level'); level.value = 1;")
        browser.find_element("css selector", f"dialog input[value={against}]").click()
    browser.find_element("id", "start").click()
    wait(browser, "document.querySelector('.board svg') && location.pathname.startsWith('/play/')")


def may(browser: Any, square: str) -> Any:
    """The square of this name, once somebody may click it."""
    found = f"(() => {{ {SQUARE.replace('arguments[0]', repr(square))} }})()"
    wait(browser, f"{found}?.matches('.gb-may')")
    return browser.execute_script(SQUARE, square)


def drag(browser: Any, origin: str, target: str) -> None:
    """A piece from one square to another, once somebody may."""
    piece = may(browser, origin)
    ActionChains(browser, duration=30).drag_and_drop(piece, browser.execute_script(SQUARE, target)).perform()


def make(browser: Any, act: Callable[[], object]) -> None:
    """Make a move by an act, and wait until it is made."""
    step = browser.execute_script(f"return {STEP}")
    act()
    wait(browser, f"{STEP} !== '{step}'")


def click_line(browser: Any, line: str) -> None:
    """Several moves by clicks, of all sides: ``d5 a1-a4`` is a click on d 5, then one on a 1, one on a 4."""

    def click(move: str) -> None:
        for square in move.split("-"):
            wait(browser, "document.getAnimations().length === 0")  # what flies makes its pit larger
            may(browser, f"{square[0]} {square[1:]}").click()

    for move in line.split():
        make(browser, lambda move=move: click(move))  # type: ignore[misc]


def ended(browser: Any) -> tuple[str, str]:
    """What the banner says at the end: who has won, and why."""
    wait(browser, BANNER)
    return tuple(browser.find_element("css selector", f".banner {part}").text for part in ("h2", ".reason"))  # type: ignore[return-value]


@pytest.mark.slow
def test_connect_four_is_played_to_its_end_by_digits(web: WebServer, browser: Any) -> None:
    choose(browser, web(), "Connect Four")
    for number in range(60):
        wait(browser, f"{BANNER} || document.title.startsWith('● Your turn')")
        if wait(browser, "document.title") and browser.execute_script(f"return {BANNER}"):
            break
        step = browser.execute_script("return document.querySelector('output').textContent")
        press(browser, str(1 + number % 7))
        time.sleep(0.1)
        wait(browser, f"{BANNER} || document.querySelector('output').textContent !== '{step}'", 20)
    assert wait(browser, BANNER) in ("You won", "You lost", "A draw")
    reason = browser.find_element("css selector", ".banner .reason").text
    assert reason in ("four in a row", "the board is full")
    browser.find_element("id", "again").click()
    wait(browser, "document.querySelector('.banner').hidden")


@pytest.mark.slow
def test_chess_is_dragged_with_en_passant_and_castling_to_a_promotion_that_mates(
    web: WebServer, browser: Any
) -> None:
    choose(browser, web(), "Chess", "people")
    moves = "e2e4 a7a6 e4e5 d7d5 e5d6 e7e6 d6c7 a6a5 d2d4 a5a4 c1g5 a4a3 g1f3 h7h5 f1e2 h5h4 0-0 h4h3"
    for move in moves.split():
        if move == "0-0":
            castle = wait(browser, "document.querySelector('.offered [data-move*=kingside]')")
            make(browser, castle.click)
        else:
            squares = f"{move[0]} {move[1]}", f"{move[2]} {move[3]}"
            make(browser, lambda squares=squares: drag(browser, *squares))  # type: ignore[misc]
        if move == "e5d6":  # the pawn that was passed has gone
            assert browser.execute_script(SQUARE, "d 5").get_attribute("textContent") == "d 5"
    drag(browser, "c 7", "d 8")
    offered = wait(browser, "document.querySelectorAll('.offered [data-move*=promote]')")
    assert len(offered) == 4
    next(one for one in offered if "queen" in one.get_attribute("data-move")).click()
    assert ended(browser)[0] == "white won"
    words = [cell.text for cell in browser.find_elements("css selector", ".history td button")]
    assert len(words) == len(moves.split()) + 1
    assert " ".join(words) == "e4 a6 e5 d5 exd6 e6 dxc7 a5 d4 a4 Bg5 a3 Nf3 h5 Be2 h4 O-O h3 cxd8=Q#"


@pytest.mark.slow
def test_sokoban_is_solved_by_arrows_then_by_walking_and_pushing_with_clicks(
    web: WebServer, browser: Any
) -> None:
    choose(browser, web(), "One parcel")
    for key in (Keys.ARROW_UP, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT):
        wait(browser, "document.title.startsWith('● Your turn')")
        make(browser, lambda key=key: press(browser, key))  # type: ignore[misc]
    assert ended(browser)[0] == "Solved!"
    browser.find_element("id", "again").click()
    wait(browser, "document.title.startsWith('● Your turn')")
    # The keeper walks to the far corner, then the box is pushed to its goal.
    browser.execute_script(SQUARE, "e 4").click()
    wait(browser, f"{STEP} === 'step 5 of 5'")
    wait(browser, "document.title.startsWith('● Your turn')")
    browser.execute_script(SQUARE, "c 3: box").click()
    wait(browser, "document.querySelector('.status').textContent.startsWith('Now click')")
    browser.execute_script(SQUARE, "e 3").click()
    assert ended(browser)[0] == "Solved!"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "line", "won"),
    [
        ("Nine men's morris", MORRIS, "white won"),  # until two stones are left
        ("Kalah", "c1 d1 e2 c2 c1", "south won"),  # the only move that is left then is made without a click
    ],
)
def test_stones_are_placed_moved_taken_and_sown_by_clicks_until_a_side_has_lost(
    web: WebServer, browser: Any, title: str, line: str, won: str
) -> None:
    choose(browser, web(), title, "people")
    click_line(browser, line)
    assert ended(browser)[0] == won


@pytest.mark.slow
def test_a_pasted_level_is_solved_by_an_arrow_and_taken_back(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/play")
    wait(browser, "document.querySelector('#rules')")
    browser.find_element("id", "rules").send_keys(
        "#######\n#  @$.#\n#######\n\n#####\n#@ .#\n#####\n\n#########\n#  @ $ .#\n#########\n"
    )
    browser.find_element("id", "read").click()
    wait(browser, "document.querySelectorAll('.bring .card').length === 2")
    said = browser.find_element("css selector", ".bring [role=status]").text
    assert said.startswith("2 levels; line 5, column 1: the level has no box")
    browser.find_elements("css selector", ".bring .card")[0].click()
    browser.find_element("id", "start").click()
    wait(browser, "document.title.startsWith('● Your turn')")
    press(browser, Keys.ARROW_RIGHT)
    assert wait(browser, BANNER) == "Solved!"
    press(browser, Keys.BACKSPACE)
    wait(browser, "document.querySelector('output').textContent.startsWith('step 0 ')")


@pytest.mark.slow
def test_a_dropped_packing_is_solved_in_space(web: WebServer, browser: Any) -> None:
    data = b"packing cubes\ntitle Two bars\npiece A\n##\npiece B\n##\nresult 2 x 2\n"
    browser.get(f"{web()}/puzzles")
    wait(browser, "document.querySelector('.bring')")
    browser.execute_script(DROP, "bars.packing", base64.b64encode(data).decode())
    wait(browser, "document.querySelector('dialog[open] #solve')").click()
    wait(browser, "document.querySelector('.status').textContent.startsWith('1 solution')")
    frame = wait(browser, "document.querySelector('.space iframe')")
    browser.switch_to.frame(frame)
    try:
        wait(
            browser, "document.documentElement.dataset.drawn || document.querySelector('#pieces').textContent"
        )
        size = "[canvas.width / canvas.height, canvas.clientWidth / canvas.clientHeight]"
        ratio = browser.execute_script(f"const canvas = document.getElementById('space'); return {size}")
        assert abs(ratio[0] - ratio[1]) < 0.02
    finally:
        browser.switch_to.default_content()


@pytest.mark.slow
def test_rules_from_the_editor_are_played_at_once(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/rules")
    wait(browser, "document.querySelector('#template')")
    browser.execute_script(
        "const s = document.querySelector('#template'); s.value = 'new'; s.dispatchEvent(new Event('change'))"
    )
    wait(browser, "document.querySelector('.preview svg')")
    browser.find_element("id", "play").click()
    wait(browser, "document.querySelector('.offered button')")
    while not browser.execute_script(f"return {BANNER}"):
        browser.execute_script("document.querySelector('.offered button')?.click()")
        time.sleep(0.2)
    assert browser.execute_script(f"return {BANNER}") in ("You won", "You lost")


# --- Games with chance and with hidden information in a real browser
def text(browser: Any, where: str) -> str:
    return " ".join(element.text for element in browser.find_elements(By.CSS_SELECTOR, where))


def my_turn(browser: Any) -> bool:
    return "Your turn" in text(browser, ".status") or "over" in text(browser, ".status")


ARROWS = {"left": Keys.ARROW_LEFT, "right": Keys.ARROW_RIGHT, "up": Keys.ARROW_UP, "down": Keys.ARROW_DOWN}


@pytest.mark.slow
def test_2048_is_played_with_arrow_keys_and_the_server_puts_the_tiles(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/play?game=twentyfortyeight")
    wait(browser, "document.querySelector('#start')").click()
    wait(browser, "document.querySelector('.names li')")
    assert "chance" in text(browser, ".names")
    made = lambda: int(text(browser, ".steps output").split()[1])  # noqa: E731
    until(lambda: made() == 2)  # tiles before the first move
    for move in range(6):
        until(lambda: my_turn(browser))
        before = made()
        legal = text(browser, ".offered button").replace("slide", "").split()
        browser.find_element(By.TAG_NAME, "body").send_keys(ARROWS[legal[move % len(legal)]])
        # One tile is put after each move. The page itself makes a move that is the only one.
        until(lambda before=before: made() >= before + 2 and made() % 2 == 0)


def test_an_arrow_key_is_no_move_into_the_column_e(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/play?game=connectfour")
    wait(browser, "document.querySelector('#start')").click()
    until(lambda: my_turn(browser))
    wait(browser, "document.querySelector('.board [data-square][tabindex]')").send_keys(Keys.ARROW_RIGHT)
    square = browser.execute_script("return document.activeElement.dataset.square")
    assert square.split(",")[1] == "1"  # the second column
    assert "step 0 of 0" in text(browser, ".steps output")


def shows_the_other(browser: Any) -> bool:
    """Whether the card of the second player is drawn."""
    return any(f"second {card}" in described(browser) for card in ("jack", "queen", "king"))


def described(browser: Any) -> str:
    """The drawing in words."""
    return str(wait(browser, "document.querySelector('.board svg desc').textContent"))


@pytest.mark.slow
def test_who_plays_kuhn_poker_sees_the_own_card_and_after_the_end_both(web: WebServer, browser: Any) -> None:
    open_table(browser, web(), "kuhn", ["human"])
    until(lambda: my_turn(browser))
    own = text(browser, ".known .percept").split()[-1]
    assert own in described(browser) and not shows_the_other(browser)
    assert "You see your own card, not the other's. The bars show" in text(browser, ".known")
    assert "50 % second holds the" in text(browser, ".known .likely")
    assert not browser.find_element(By.CSS_SELECTOR, "[data-order=back]").is_displayed()
    while "over" not in text(browser, ".status"):
        for button in browser.find_elements(By.CSS_SELECTOR, ".offered button")[:1]:
            browser.execute_script("arguments[0].click()", button)
    until(lambda: shows_the_other(browser))
    browser.find_element(By.ID, "look-back").click()
    until(lambda: "Looking back" in text(browser, ".status"))
    assert shows_the_other(browser)
    browser.find_elements(By.CSS_SELECTOR, "#see-as option")[1].click()
    until(lambda: not shows_the_other(browser))


@pytest.mark.slow
def test_squares_are_shaded_by_how_likely_something_stands_there(web: WebServer, browser: Any) -> None:
    open_table(browser, web(), "phantomconnect", ["human"])
    until(lambda: my_turn(browser))
    browser.find_element(By.TAG_NAME, "body").send_keys("4")
    until(lambda: len(browser.find_elements(By.CSS_SELECTOR, ".gb-shade")) == 7)
    browser.find_element(By.ID, "shades").click()
    until(lambda: not browser.find_elements(By.CSS_SELECTOR, ".gb-shade"))


def click_svg(browser: Any, css: str) -> None:
    """A click on a part of a drawing, once it is there."""
    until(lambda: bool(browser.find_elements(By.CSS_SELECTOR, css)))
    script = "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    browser.execute_script(script, browser.find_element(By.CSS_SELECTOR, css))


@pytest.mark.slow
def test_a_guess_is_made_of_colours_in_holes_and_what_is_possible_waits_to_be_asked_for(
    web: WebServer, browser: Any
) -> None:
    open_table(browser, web(), "mastermind", ["human"])
    until(lambda: my_turn(browser))
    assert not browser.find_elements(By.CSS_SELECTOR, ".likely, .gb-shade")
    for colour in (0, 0, 1, 1):
        click_svg(browser, f'[data-square="0,{colour},0"]')
    click_svg(browser, '[data-slot="1"]')
    click_svg(browser, '[data-square="0,5,0"]')
    filled = browser.find_elements(By.CSS_SELECTOR, "[data-slot]")
    assert [hole.get_attribute("aria-label") for hole in filled] == [
        f"hole {n}: {colour}" for n, colour in enumerate(("red", "violet", "orange", "orange"), 1)
    ]
    browser.switch_to.active_element.send_keys(Keys.ENTER)  # the tick has the focus
    until(
        lambda: (
            "1: red, violet, orange, orange"
            in browser.find_element(By.CSS_SELECTOR, ".board").get_attribute("innerHTML")
        )
    )
    browser.find_element(By.ID, "shades").click()
    until(lambda: bool(browser.find_elements(By.CSS_SELECTOR, ".likely li")))


@pytest.mark.slow
def test_ships_are_laid_in_the_own_sea_and_shots_fall_in_the_other(web: WebServer, browser: Any) -> None:
    open_table(browser, web(), "battleships", ["human", "legal"])
    until(lambda: my_turn(browser))
    assert [title.text for title in browser.find_elements(By.CSS_SELECTOR, ".gb-title")] == ["mine", "theirs"]
    for step in range(3):
        wait(browser, f"document.querySelectorAll('.board .gb-ship').length === {min(step, 2)}")
        until(lambda: bool(browser.find_elements(By.CSS_SELECTOR, ".gb-may")))
        squares = [
            one.get_attribute("data-square") for one in browser.find_elements(By.CSS_SELECTOR, ".gb-may")
        ]
        assert {square[0] for square in squares} == {"0" if step < 2 else "1"}
        click_svg(browser, f'[data-square="{squares[0]}"]')
        for button in browser.find_elements(By.CSS_SELECTOR, ".offered button[data-move]")[:1]:
            browser.execute_script("arguments[0].click()", button)
    until(lambda: len(browser.find_elements(By.CSS_SELECTOR, ".board .gb-hit, .board .gb-miss")) == 2)
    assert not browser.find_elements(By.CSS_SELECTOR, ".gb-shade")
    browser.find_element(By.ID, "shades").click()
    until(lambda: bool(browser.find_elements(By.CSS_SELECTOR, ".gb-shade")))


# --- People at one table: another name of this computer is another origin, and so another person's browser
SEATED = "[...document.querySelectorAll('.names li')].map((one) => one.textContent).join('; ')"


@pytest.mark.slow
def test_two_windows_play_a_match_of_hidden_information_and_another_with_sides_swapped(
    web: WebServer, browser: Any
) -> None:
    choose(browser, web(), "Kuhn poker", "friend")
    one, place = browser.current_window_handle, browser.current_url
    cards: dict[str, str] = {}  # role -> its card, as its own window shows it
    assert "#" not in place, "who gets the address gets no key"
    assert wait(browser, "document.querySelector('.company input').value") == place
    until(lambda: is_asked(browser))
    cards["first"] = wait(browser, "document.querySelector('.known .percept')?.textContent").split()[-1]
    browser.switch_to.new_window("window")
    two = browser.current_window_handle
    try:
        browser.get(place.replace("localhost", "127.0.0.1"))
        wait(browser, "document.querySelector('.sit')")
        assert "holds" not in drawn(browser)
        browser.find_element(By.ID, "name").send_keys("Bob")
        browser.find_element(By.CSS_SELECTOR, ".sit").click()
        wait(browser, f"{SEATED}.includes('Bob (you)')")
        cards["second"] = wait(browser, "document.querySelector('.known .percept')?.textContent").split()[-1]
        for window, role in ((one, "first"), (two, "second")):
            browser.switch_to.window(window)
            until(lambda own=f"{role} {cards[role]}": held(browser) == {own})
        browser.refresh()
        wait(browser, f"{SEATED}.includes('Bob (you)')")  # a reload keeps the seat
        for window in (one, two) * 2:
            browser.switch_to.window(window)
            until(lambda: is_asked(browser) or shows_both(browser))
            if not shows_both(browser):
                browser.execute_script("document.querySelector('.offered button')?.click()")
                until(lambda: not is_asked(browser))
        for window in (one, two):
            browser.switch_to.window(window)
            until(lambda: held(browser) == {f"{role} {card}" for role, card in cards.items()})
        wait(browser, "document.querySelector('#again')").click()
        browser.switch_to.window(one)
        wait(browser, "document.querySelector('#accept-again')").click()
        wait(browser, f"{SEATED}.includes('firstBob') || {SEATED}.includes('first Bob')")
        until(lambda: not shows_both(browser))
    finally:
        browser.switch_to.window(two)
        browser.close()
        browser.switch_to.window(one)


def drawn(browser: Any) -> str:
    """The words on the board."""
    return str(browser.execute_script("return document.querySelector('.board')?.textContent ?? ''"))


def is_asked(browser: Any) -> bool:
    """Whether the person at this window has a choice."""
    return bool(browser.execute_script("return document.querySelector('.offered button') !== null"))


def held(browser: Any) -> set[str]:
    """Who holds which card, as it is drawn: ``first jack``."""
    words, cards = drawn(browser), ("jack", "queen", "king")
    return {f"{role} {card}" for role in ("first", "second") for card in cards if f"{role} {card}" in words}


def shows_both(browser: Any) -> bool:
    """Whether the cards of both players are drawn."""
    return len(held(browser)) == 2


@pytest.mark.slow
def test_the_level_is_chosen_beside_the_name_in_the_middle_and_clocks_go_on_after_a_reload(
    web: WebServer, browser: Any
) -> None:
    order(
        browser,
        web(),
        "/play/tables",
        game="tictactoe",
        seats=["human", "uct:playouts=10,knowledge=off"],
        playclock=1,
        minutes=5,
    )
    look(browser, lambda s: len(s[2]) == 9)
    click(browser, square_of(browser, "b 2") + ".gb-may")
    look(browser, lambda s: s[1].startswith("step 2 ") and s[0].startswith("Your turn"))
    assert "expects" in text(browser, ".bars")
    menu = browser.find_elements(By.CSS_SELECTOR, ".level select")[1]
    assert menu.get_attribute("value") == "Level 1"
    browser.execute_script(
        "arguments[0].value = 'Level 6'; arguments[0].dispatchEvent(new Event('change'))", menu
    )
    wait(browser, "document.querySelectorAll('.names .who')[1].title === 'uct:playouts=130000,knowledge=off'")
    assert look(browser, lambda s: True)[1].startswith("step 2 ")
    time.sleep(1.5)
    browser.refresh()
    clock = wait(browser, "document.querySelector('.names .clock')?.textContent")
    assert clock.startswith("4:5")
