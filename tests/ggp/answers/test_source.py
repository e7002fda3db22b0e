"""Requests name games that come along or bring rules; no other file is read for them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer

from gdl.errors import GdlError
from ggp.answers.source import checked_source, known_games, known_levels, load_source
from ggp.web.app import make_app
from ggp.web.gate import TOKENS, WebSettings


def test_what_comes_along_is_found_by_name_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tictactoe").write_text("(role impostor)")
    (tmp_path / "yards.xsb").write_text("####\n#@$.#\n####")
    monkeypatch.chdir(tmp_path)
    for name in (*known_games(), *known_levels()):
        source = checked_source({"game": name})
        assert Path(source["game"].rpartition(".")[0]).is_absolute()
        if name in ("tictactoe", "yards.xsb:1"):
            assert "impostor" not in load_source(source).text
    assert load_source(checked_source({"rules": "role(x)"})).text == "role(x)"


@pytest.mark.parametrize("name", ["/etc/passwd", "../README.md", "secret", "secret.xsb", "x\0"])
def test_other_files_are_no_games(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("(role secret)")
    (tmp_path / "secret.xsb").write_text("####\n#@$.#\n####")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GdlError, match="there is no game"):
        checked_source({"game": name})

    async def run() -> None:
        async with TestClient(TestServer(make_app(WebSettings()))) as client:
            assert client.app is not None
            headers = {"X-Ggp-Token": client.app[TOKENS].make()}
            for path in ("/play/tables", "/puzzles"):
                reply = await client.post(path, json={"game": name}, headers=headers)
                assert reply.status == 400
                assert "there is no game" in (await reply.json())["error"]

    asyncio.run(run())
