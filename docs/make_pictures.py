"""``python docs/make_pictures.py``: makes the pictures of README.md and the site anew, in docs/pictures.

Each is made by ``ggp`` itself: a solved level as a GIF, the cube of ``ggp cover --output`` as a GIF that
turns, screens of ``ggp web``, a sheet with the boards of our own games and, if ``$GGP_CORPUS`` has them, of
twenty public ones. It needs Chromium with its chromedriver, selenium and pillow (``make test``
installs both). With names (``play.png``) only these are made.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from bench.boards.recorded import read_recorded  # noqa: E402
from ggp.answers.catalogue import title_of  # noqa: E402
from ggp.boards.svg.markup import stylesheet  # noqa: E402
from ggp.boards.svg.picture import SvgPainter  # noqa: E402
from ggp.rule_files import read_rules_file  # noqa: E402
from ggp.traces import find_traces  # noqa: E402
from players.kaskade.make_machine import make_machine  # noqa: E402

PICTURES = Path(__file__).parent / "pictures"
FLAGS = "--headless=new --no-sandbox --disable-dev-shm-usage --no-first-run --hide-scrollbars"
PATIENCE = 120.0
"""Seconds that a page may take to show what is waited for."""
ORDER = """
const [path, order, done] = arguments;
const token = document.querySelector('meta[name=token]').content;
fetch(path, {method: 'POST', headers: {'X-Ggp-Token': token}, body: JSON.stringify(order)})
  .then((reply) => reply.json()).then((told) => done(told.page ?? told.error));
"""
PUBLIC = """blocker bomberman2p cubicup_3player englishDraughts hidato19 kalaha6x2x4 knightfight laikLee_hex
merrills mummyMaze2p_2007 nineBoardTicTacToe pacman3p pentago quad quartoSuicide sheepAndWolf skirmishNew
tictactoe_3d_small_6player ttcc4_2player wallmaze"""
"""Public games on the sheet of boards."""
SHEET = """
body { margin: 12px; font: 13px system-ui, sans-serif; color-scheme: light; background: #ffffff; }
main { display: grid; grid-template-columns: repeat(7, minmax(0, 1fr)); gap: 10px; }
figure { margin: 0; border: 1px solid #d0d4da; border-radius: 8px; padding: 4px; }
figcaption { font-weight: 600; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
figure svg.gb { display: block; width: 100%; height: 170px; }
"""
FRAMES = 20
"""Pictures of the cube in one turn."""
SLIP = ("(true (cell ?x ?y ?r))", "(cell ?x ?y ?r)")
"""In the rules of tic-tac-toe, for the picture of the editor: a fact of the state without ``true``."""


def ggp(*words: str) -> None:
    """Run a command."""
    subprocess.run([sys.executable, "-m", "ggp", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def browser(width: int, height: int) -> Iterator[Any]:
    """A browser with a window of this size, in CSS pixels."""
    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*FLAGS.split(), f"--window-size={width},{height}", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        chrome = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
        chrome.set_page_load_timeout(PATIENCE)
        chrome.set_script_timeout(PATIENCE)
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        try:
            yield chrome
        finally:
            chrome.quit()


@contextmanager
def page(width: int, height: int, *options: str) -> Iterator[tuple[Any, str]]:
    """A browser, and the address of ``ggp web`` with some options, both for a while."""
    command = [sys.executable, "-m", "ggp", "web", "--port", "0", *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().partition("open ")[2].partition(" ")[0].rstrip("/")
        try:
            with browser(width, height) as chrome:
                yield chrome, address
        finally:
            server.terminate()


def wait(chrome: Any, condition: str) -> None:
    """Until a condition in JavaScript holds."""
    end = time.monotonic() + PATIENCE
    while not chrome.execute_script(f"return {condition}"):
        if time.monotonic() > end:
            raise SystemExit(f"{chrome.current_url}: never true: {condition}")
        time.sleep(0.05)


def keep(picture: Image.Image, target: Path, colours: int = 64) -> None:
    """Write a screen as PNG with few colours: it is flat, and stays small."""
    picture.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)


def screen(chrome: Any) -> Image.Image:
    """What the window shows."""
    return Image.open(io.BytesIO(chrome.get_screenshot_as_png()))


def start(target: Path) -> None:
    """The first page of ``ggp web``."""
    with page(1000, 760) as (chrome, address):
        chrome.get(address)
        wait(chrome, "document.images.length > 4 && [...document.images].every((one) => one.naturalWidth)")
        wait(chrome, "document.querySelector('.live img').src.includes('step=8')")
        time.sleep(1)
        keep(screen(chrome), target)


def replay(target: Path) -> None:
    """A match of a tournament, in its middle."""
    with tempfile.TemporaryDirectory() as folder:
        players = ["-p", "uct:playouts=3000,uct:playouts=1000", "-r", "1"]
        clocks = ["--clock", "2,2"]
        ggp("tournament", "hex", *players, *clocks, "-d", str(Path(folder, "hex.sqlite")))
        with page(1000, 760, "--records", folder) as (chrome, address):
            chrome.get(f"{address}/replay?tournament=hex.sqlite&match=1#24")
            wait(chrome, "document.querySelectorAll('.history td button').length > 24")
            wait(chrome, "!document.querySelector('.history').textContent.includes('place')")
            time.sleep(2)
            keep(screen(chrome), target)


def play(target: Path) -> None:
    """A match of chess at a table of ``ggp web``: both sides are the player ``uct``."""
    with page(1000, 760) as (chrome, address):
        chrome.get(f"{address}/play")
        order = {"game": "chess", "rules": "", "seats": ["uct", "uct"], "others": "uct", "playclock": 1}
        chrome.get(address + chrome.execute_async_script(ORDER, "/play/tables", order))
        wait(chrome, "Number(document.querySelector('input[aria-label=Step]')?.max) >= 12")
        time.sleep(0.5)  # pieces glide
        keep(screen(chrome), target)


def hidden(target: Path) -> None:
    """Phantom connect four at a table of ``ggp web``, after four moves of a person: squares are shaded by how
    likely the other's pieces are there."""
    with page(1000, 760) as (chrome, address):
        chrome.get(f"{address}/play")
        order = {
            "game": "phantomconnect",
            "rules": "",
            "seats": ["human", "random"],
            "playclock": 1,
            "seed": 4,
        }
        chrome.get(address + chrome.execute_async_script(ORDER, "/play/tables", order))
        for number, column in enumerate("4435"):
            wait(chrome, f"document.querySelectorAll('.history tbody tr').length >= {2 * number}")
            wait(chrome, "document.querySelector('.status')?.textContent.includes('Your turn')")
            chrome.find_element(By.TAG_NAME, "body").send_keys(column)
        wait(chrome, "document.querySelectorAll('.history tbody tr').length >= 8")
        wait(chrome, "document.querySelectorAll('.gb-shade').length > 6")
        keep(screen(chrome), target)


def rules(target: Path) -> None:
    """The editor of rules, with a slip and what the validator says to it."""
    text = (ROOT / "games" / "tictactoe.kif").read_text(encoding="utf-8").replace(*SLIP, 1)
    with page(1000, 760) as (chrome, address):
        chrome.get(f"{address}/rules")
        wait(chrome, "document.querySelector('textarea')")
        chrome.execute_script(
            "const area = document.querySelector('textarea'); area.value = arguments[0];"
            "area.dispatchEvent(new Event('input', {bubbles: true}))",
            text,
        )
        wait(chrome, "document.querySelector('.finding-warning')")
        chrome.execute_script("document.querySelector('textarea').scrollTop = 560")
        time.sleep(2)
        keep(screen(chrome), target)


def puzzle(target: Path) -> None:
    """A Sokoban level solved by ``ggp web``, in the middle of its solution."""
    with page(1000, 760) as (chrome, address):
        chrome.get(f"{address}/puzzles")
        order = {"game": "yards.xsb:2", "seconds": 60, "solver": ""}
        chrome.get(address + chrome.execute_async_script(ORDER, "/puzzles", order))
        wait(chrome, "Number(document.querySelector('input[aria-label=Step]')?.max) > 20")
        chrome.execute_script(
            "const at = document.querySelector('input[aria-label=Step]'); at.value = Math.floor(at.max / 2);"
            "at.dispatchEvent(new Event('input', {bubbles: true}))"
        )
        time.sleep(3)
        keep(screen(chrome), target)


def level_editor(target: Path) -> None:
    """The editor of levels, with a level of Snakes."""
    level = (ROOT / "games" / "levels" / "snakes.txt").read_text(encoding="utf-8").split("\n\n")[3]
    draft = json.dumps({"kind": "snakes", "text": level, "at": 0})
    with page(1000, 760) as (chrome, address):
        chrome.get(f"{address}/puzzles")
        chrome.execute_script("localStorage.setItem('kaskade level', arguments[0])", draft)
        chrome.get(f"{address}/puzzles/draw")
        wait(chrome, "document.querySelector('.status')?.textContent === 'It can be played.'")
        keep(screen(chrome), target)


def sokoban(target: Path) -> None:
    """A level solved by ``ggp solve``, push by push."""
    ggp("solve", "yards.xsb:2", "-o", str(target))


def boards(target: Path) -> None:
    """A sheet with the boards of all games that come along, and of public ones if they are on this computer,
    each in the middle of a recorded match."""
    corpus = Path(os.environ.get("GGP_CORPUS", "../shared/corpus"))
    folders = [ROOT / "games" / "playthroughs", *([corpus] if corpus.is_dir() else [])]
    figures = []
    for folder, wanted in zip(folders, ("", PUBLIC), strict=False):
        for trace in find_traces([folder]):
            if wanted and trace.name not in wanted.split():
                continue
            game = read_recorded(trace)
            at = len(game.first) // 2
            before = game.first[at - 1] if at else None
            painter = SvgPainter.of_machine(make_machine(game.rules, "prover"), trace.name)
            title = trace.name if wanted else title_of(read_rules_file(trace.rules))[0] or trace.name
            drawn = painter.draw(game.first[at], before, facts=False)
            figures.append(f"<figure><figcaption>{escape(title)}</figcaption>{drawn}</figure>")
    with tempfile.TemporaryDirectory() as folder, browser(1400, 800) as chrome:
        sheet = Path(folder, "boards.html")
        style = f'<meta charset="utf-8"><style>{stylesheet()}{SHEET}</style>'
        sheet.write_text(f"<!doctype html>{style}<main>{''.join(figures)}</main>", encoding="utf-8")
        chrome.get(sheet.as_uri())
        height = chrome.execute_script("return document.documentElement.scrollHeight")
        metrics = {"width": 1400, "height": height, "deviceScaleFactor": 1, "mobile": False}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        keep(screen(chrome), target, 192)


def cube(target: Path) -> None:
    """The soma cube of ``ggp cover --output``, dragged once around."""
    with tempfile.TemporaryDirectory() as folder, browser(900, 760) as chrome:
        drawn = Path(folder, "soma.html")
        ggp("cover", "games/puzzles/soma.packing", "--first", "1", "--output", str(drawn))
        chrome.get(drawn.as_uri())
        wait(chrome, "document.documentElement.dataset.drawn")
        chrome.execute_script(
            "const at = document.getElementById('spread'); at.value = 12;"
            "at.dispatchEvent(new Event('input'));"
            "dispatchEvent(new Event('resize'))"
        )
        canvas = chrome.find_element(By.ID, "space")
        frames = []
        for _ in range(FRAMES):
            # A drag over the height of the canvas is a whole turn.
            drag = webdriver.ActionChains(chrome, duration=20).move_to_element(canvas).click_and_hold()
            drag.move_by_offset(round(canvas.size["height"] / FRAMES), 0).release().perform()
            time.sleep(1)  # what turns goes on for a moment
            frame = Image.open(io.BytesIO(canvas.screenshot_as_png)).convert("RGB")
            frame = _square(frame).resize((280, 280), Image.Resampling.LANCZOS)
            frames.append(frame.quantize(32, dither=Image.Dither.NONE))
        frames[0].save(target, save_all=True, append_images=frames[1:], duration=150, loop=0, optimize=True)


def _square(picture: Image.Image) -> Image.Image:
    side = min(picture.size)
    left, upper = (picture.width - side) // 2, (picture.height - side) // 2
    return picture.crop((left, upper, left + side, upper + side))


MADE = {
    "sokoban.svg": sokoban,
    "cube.gif": cube,
    "start.png": start,
    "play.png": play,
    "hidden.png": hidden,
    "rules.png": rules,
    "puzzle.png": puzzle,
    "replay.png": replay,
    "boards.png": boards,
    "level-editor.png": level_editor,
}
"""The pictures by name. The others of that folder are drawn by hand, or by a benchmark."""


def main() -> None:
    """Make those that are named, or all."""
    wanted = sys.argv[1:] or list(MADE)
    if unknown := [name for name in wanted if name not in MADE]:
        raise SystemExit(f"no picture is called {unknown[0]!r}: {', '.join(MADE)}")
    for name in wanted:
        MADE[name](PICTURES / name)
        print(name, (PICTURES / name).stat().st_size, "bytes")


if __name__ == "__main__":
    main()
