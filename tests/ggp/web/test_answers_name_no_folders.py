"""What the page, the API and the tools answer never says where files of the server lie."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import orjson
import pytest

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.game import Game
from ggp.rule_files import games_folder
from ggp.server.clients.connections import error_text
from ggp.web.gate import error_reply
from ggp.web.play.view import TableView
from players.match import Match
from players.registry import make_player
from tests.ggp.web.clients import Client
from tests.places import ROOT

LEVEL = next(path.name for path in sorted((games_folder() / "levels").glob("*.xsb")))


@pytest.mark.parametrize("name", ["state", "solve"])
async def test_a_level_that_is_not_there_is_told_without_its_folder(client: Client, name: str) -> None:
    reply = await client.post(f"/api/{name}", json={"game": f"{LEVEL}:99999"})
    text = await reply.text()
    assert "there is no level 99999" in text and LEVEL in text
    assert str(games_folder()) not in text and str(ROOT) not in text


@pytest.mark.parametrize(
    "path",
    [games_folder() / "chess.kif", Path(tempfile.gettempdir()) / "a" / "b.sqlite", Path.home() / "x y" / "z"],
)
def test_no_refusal_says_where_a_file_lies(path: Path) -> None:
    for text in (f"cannot read {path}: it is a folder", f"{path}:3:4: wrong", f"'{path}' ({path})"):
        told = error_reply(400, text).body
        assert isinstance(told, bytes)
        error = orjson.loads(told)["error"]
        assert str(path.parent) not in error and path.name in error


def test_a_server_of_players_refuses_without_folders() -> None:
    place, said = Path(tempfile.gettempdir()) / "a" / "b.sqlite", list[dict[str, object]]()
    text, status = error_text(
        GdlError(f"cannot read {place}"), lambda level, event, **fields: said.append(fields)
    )
    assert (text, status) == ("error: cannot read b.sqlite", 400)
    assert said == [{"status": 400, "error": f"cannot read {place}"}]  # the operator is told where


def test_what_a_player_notes_is_told_without_folders(tmp_path: Path) -> None:
    game = Game.load("tictactoe")
    machine = game.machine("prover")
    player = make_player(f"tables:dir={tmp_path / 'none'},otherwise=legal")
    state = machine.initial_state()
    player.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
    choice = player.choose(state, time.monotonic() + 0.1)
    assert str(tmp_path) in choice.note  # who started the player here is told where it has looked
    match = Match(machine)
    match.answer(0, choice)
    match.make()
    [told] = TableView(game, machine).seen(match)["history"]
    assert told["notes"]["x"].startswith("no table: ")
    assert str(tmp_path) not in told["notes"]["x"]


def test_words_with_slashes_stay() -> None:
    for text in (
        "GET /api/games lists them",
        "http://127.0.0.1:80/etc/x",
        "1/2",
        "(a/b /c)",
        "//etc/x",
        "-/-",
    ):
        assert without_folders(text) == text
