"""Stylesheets draw states as the reference manager has them; hostile ones do nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.traces.verify import read_trace
from ggp.web.app import make_app
from ggp.web.gate import TOKENS, WebSettings
from ggp.web.styles.routes import POLICY, find_stylesheets
from ggp.web.styles.style_process import LARGEST_DRAWING, StyleFolder, state_xml

etree = pytest.importorskip("lxml.etree", reason="lxml is not installed: extra styles")

Client = TestClient[web.Request, web.Application]
HEAD = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"'
BOARD = f"""<?xml version="1.0"?>
<!DOCTYPE stylesheet [<!ENTITY ROOT "http://games.ggp.org/base">]>
{HEAD}><xsl:param name="width" select="400"/><xsl:template match="/">
<div><style>td {{ width: <xsl:value-of select="$width div 2"/>px; }}</style>
<xsl:for-each select="state/fact[relation='cell']"><p class="cell"><xsl:value-of select="argument[2]"/></p>
</xsl:for-each><img src="&ROOT;/images/dot.png"/><img src="&ROOT;/images/none.png"/></div>
</xsl:template></xsl:stylesheet>"""
DOT = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "games" / "boardGame" / "v1").mkdir(parents=True)
    (tmp_path / "games" / "boardGame" / "board.xsl").write_text(HEAD + "/>")
    (tmp_path / "games" / "boardGame" / "v1" / "board.xsl").write_text(BOARD)
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "dot.png").write_bytes(DOT)
    (tmp_path / "single.xslt").write_text(HEAD + "/>")
    return tmp_path


def test_a_folder_names_its_stylesheets_by_their_games_newest_first(folder: Path) -> None:
    found = find_stylesheets(folder)
    assert {name: str(path.relative_to(folder)) for name, path in found.items()} == {
        "boardGame": "games/boardGame/v1/board.xsl",
        "single": "single.xslt",
    }


def test_a_state_is_drawn_with_its_images_in_it(folder: Path) -> None:
    styles = StyleFolder(folder)
    text = styles.apply("games/boardGame/v1/board.xsl", "(cell 1 X) (cell 2 o) over")
    assert '<p class="cell">X</p>' in text
    assert "width: 280px" in text
    page = styles.page("games/boardGame/v1/board.xsl", "(cell 1 x)")
    assert 'src="data:image/png;base64,iVBORw0KGgo="' in page
    assert 'src="data:,"' in page
    assert "http:" not in page


WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="();"), min_size=1
)
TERMS = st.recursive(
    WORDS, lambda inner: st.lists(inner, min_size=1, max_size=4).map(lambda p: f"({' '.join(p)})")
)


@given(st.lists(TERMS, max_size=6))
def test_every_state_is_well_formed_xml_with_its_names_as_text(terms: list[str]) -> None:
    tree = etree.fromstring(state_xml(" ".join(terms)))
    assert tree.tag == "state"
    words = " ".join(terms).replace("(", " ").replace(")", " ").split()
    assert sorted("".join(words)) == sorted(c for c in "".join(tree.itertext()) if not c.isspace())


def sheet(body: str, head: str = ">") -> str:
    return f'{HEAD}{head}<xsl:template match="/">{body}</xsl:template></xsl:stylesheet>'


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
AGAIN = f'{HEAD}><xsl:template match="/" name="again">'
CALL = '<xsl:call-template name="again"/>'
HOSTILE = {
    "reads a file": sheet("<xsl:copy-of select=\"document('file:///etc/passwd')\"/>"),
    "reads a file beside": sheet("<xsl:copy-of select=\"document('secret.xml')\"/>"),
    "asks the network": sheet("<xsl:copy-of select=\"document('http://127.0.0.1:9/')\"/>"),
    "imports a file": f'{HEAD}><xsl:import href="file:///etc/hostname"/></xsl:stylesheet>',
    "imports from above": f'{HEAD}><xsl:import href="../../above.xsl"/></xsl:stylesheet>',
    "imports from the network": f'{HEAD}><xsl:include href="http://127.0.0.1:9/x.xsl"/></xsl:stylesheet>',
    "entities": BOMB + sheet("&b;"),
    "an entity from outside": '<!DOCTYPE x SYSTEM "file:///etc/passwd">' + sheet("x"),
    "writes a file": sheet(
        '<exsl:document href="written">x</exsl:document>',
        ' xmlns:exsl="http://exslt.org/common" extension-element-prefixes="exsl">',
    ),
    "calls itself for ever": f"{AGAIN}{CALL}</xsl:template></xsl:stylesheet>",
    "doubles": f"{AGAIN}xxxx{CALL}{CALL}</xsl:template></xsl:stylesheet>",
    "no xml": "<xsl:stylesheet",
    "no stylesheet": "<html/>",
    "nothing": "",
    "bytes": "\x00\x01",
}


def drawn_or_told(styles: StyleFolder, name: str, facts: str) -> str:
    """A page, or the one line that says why there is none."""
    try:
        return styles.page(name, facts)
    except GdlError as error:
        return str(error).replace("\n", "Traceback")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_stylesheets_are_refused_or_draw_nothing_of_ours(text: str, tmp_path: Path) -> None:
    root = tmp_path / "styles"
    root.mkdir()
    (tmp_path / "above.xsl").write_text(sheet("SECRET"))
    (root / "secret.xml").write_text("<a>SECRET</a>")
    (root / "bad.xsl").write_text(text)
    page = drawn_or_told(StyleFolder(root), "bad.xsl", "(cell 1 1 b)")
    assert "SECRET" not in page
    assert "root:" not in page
    assert len(page) < 2 * LARGEST_DRAWING
    assert not (tmp_path / "written").exists()
    assert not Path("written").exists()


@pytest.mark.parametrize("name", ["../above.xsl", "/etc/passwd", "nothing.xsl", "\x00", "a" * 5000])
def test_files_outside_the_folder_are_no_stylesheets(name: str, folder: Path) -> None:
    with pytest.raises(GdlError, match="there is no file"):
        StyleFolder(folder).page(name, "over")


@pytest.mark.parametrize("facts", ["(((", ")", "\x00", "()", "(" * 200])
def test_states_that_cannot_be_read_are_told(facts: str, folder: Path) -> None:
    assert "Traceback" not in drawn_or_told(StyleFolder(folder), "games/boardGame/v1/board.xsl", facts)


ACTIVE = sheet(
    "<div onclick='x()'><script>alert(1)</script><SCRIPT src='http://x/y.js'/><link rel='preconnect'"
    " href='http://x'/><meta http-equiv='refresh' content='0;url=http://x'/><iframe src='http://x'/>ok"
    "<xsl:text disable-output-escaping='yes'>&lt;script&gt;alert(2)&lt;/script&gt;&lt;base href='http://x'&gt;"
    "</xsl:text></div>"
)


def with_app(folder: Path | None, talk: Callable[[Client], Awaitable[None]]) -> None:
    async def run() -> None:
        async with TestClient(TestServer(make_app(WebSettings(styles=folder)))) as client:
            await talk(client)

    asyncio.run(run())


async def draw(client: Client, name: str, facts: object) -> tuple[int, dict[str, Any]]:
    assert client.app is not None
    headers = {"X-Ggp-Token": client.app[TOKENS].make()}
    reply = await client.post(f"/styles/{name}", json={"facts": facts}, headers=headers)
    return reply.status, await reply.json()


def test_a_drawing_comes_in_a_frame_that_can_do_nothing(folder: Path) -> None:
    (folder / "active.xsl").write_text(ACTIVE)
    (folder / "doubles.xsl").write_text(HOSTILE["doubles"])

    async def talk(client: Client) -> None:
        assert (await (await client.get("/styles")).json())["names"] == [
            "active", "boardGame", "doubles", "single",
        ]  # fmt: skip
        status, told = await draw(client, "active", "(p)")
        assert status == 200
        reply = await client.get(told["frame"])
        assert reply.headers["Content-Security-Policy"] == POLICY
        assert "sandbox" in POLICY
        text = await reply.text()
        assert "ok" in text
        for word in ("script", "alert", "link", "refresh", "iframe", "base"):
            assert word not in text.lower().replace("default-src", "")
        assert (await draw(client, "nosuch", "(p)"))[0] == 400
        assert (await draw(client, "boardGame", ["(p)"]))[0] == 400
        assert (await draw(client, "boardGame", "(p" * 100_001))[0] == 400
        assert (await draw(client, "doubles", "(p)"))[0] == 400
        assert (await draw(client, "boardGame", "(cell 1 x)"))[0] == 200
        assert (await client.get("/styles/drawn/nothing")).status == 404

    with_app(folder, talk)


def test_without_a_folder_there_are_no_stylesheets() -> None:
    async def talk(client: Client) -> None:
        assert (await (await client.get("/styles")).json())["names"] == []
        assert (await draw(client, "boardGame", "(p)"))[0] == 400

    with_app(None, talk)


GOLDEN = Path(__file__).parent / "golden.json"


def digest(styles: StyleFolder, sheet: Path, trace: Path) -> str:
    """Of what a stylesheet makes of the first three states of a trace."""
    steps = (line["state"] for line in read_trace(trace) if line["type"] == "step")
    made = [styles.apply(str(sheet), " ".join(state)) for state in islice(steps, 3)]
    return hashlib.sha256("\n".join(made).encode()).hexdigest()[:16]


def public_stylesheets() -> dict[str, str]:
    """Game -> digest, for all games that have a trace and a stylesheet. Skips where there are none."""
    folder, corpus = os.environ.get("GGP_STYLES"), os.environ.get("GGP_CORPUS")
    if not folder or not corpus:
        pytest.skip("GGP_STYLES names no folder of public stylesheets, or GGP_CORPUS none of traces")
    root = Path(folder).resolve()
    sheets = {name.lower(): path.relative_to(root) for name, path in find_stylesheets(root).items()}
    styles = StyleFolder(root)
    traces = {path.name.partition(".jsonl")[0]: path for path in (Path(corpus) / "traces").iterdir()}
    both = sorted(name for name in traces if name.lower() in sheets)
    return {name: digest(styles, sheets[name.lower()], traces[name]) for name in both}


def test_public_stylesheets_draw_what_they_drew() -> None:
    golden = json.loads(GOLDEN.read_text())
    made = public_stylesheets()
    same = [name for name in golden if made.get(name) == golden[name]]
    assert len(golden) >= 120
    assert len(same) >= 120
