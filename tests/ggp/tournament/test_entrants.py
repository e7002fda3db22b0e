"""A tournament's file loads, calls and opens nothing: its players are compared with the command line's."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp.tournament.settings import Entrant, check_kept, parse_entrants
from ggp.tournament.store import Store
from players.processes.limits import cores
from tests.ggp.program import ggp
from tests.ggp.tournament.small_settings import tournament_of
from tests.places import ROOT

OWN = "module:Class"


@pytest.mark.parametrize(
    "spec",
    [
        OWN,
        "http://127.0.0.1:9",
        "tables:dir=t",
        f"tables:otherwise={OWN}",
        "uct:knowledge=k",
        "uct:cluster=h:1",
        f"uct:workers={cores() + 1}",
        "no such player",
        "uct:nothing=1",
    ],
)
def test_a_file_alone_runs_only_players_that_reach_nothing(spec: str) -> None:
    kept = [Entrant("one", spec), Entrant("uct:workers=all", "uct:workers=all"), Entrant("b", "random")]
    with pytest.raises(GdlError, match=r"names one@.*--players 'one@"):
        check_kept(kept, [Entrant("b", "random")], "t.sqlite")
    check_kept(kept, [Entrant("another label", spec)], "t.sqlite")
    check_kept(kept[1:], [], "t.sqlite")


def test_what_the_remedy_says_is_a_list_of_players() -> None:
    kept = [Entrant("one", "tables:dir=t,otherwise=greedy"), Entrant("http://h:1", "http://h:1")]
    with pytest.raises(GdlError) as told:
        check_kept(kept, [], "t.sqlite")
    assert parse_entrants([str(told.value).split("'")[-2]]) == kept


@pytest.mark.slow
def test_going_on_with_a_file_imports_nothing_and_calls_nobody(tmp_path: Path) -> None:
    (tmp_path / "marker.py").write_text("from pathlib import Path\nPath('imported').touch()\n")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        specs = [
            "marker:X",
            "tables:otherwise=marker:X",
            f"uct:cluster={address}",
            f"http://{address}",
            "random",
        ]
        kept = tournament_of(Entrant(spec, spec) for spec in specs)
        with Store(tmp_path / "t.sqlite") as store:
            store.set("settings", kept.as_json())
        for more in ([], ["--anyway"], ["--players", "random"]):
            words = "tournament", "-d", "t.sqlite", *more
            told = ggp(*words, cwd=tmp_path, PYTHONPATH=str(ROOT), RAY_AUTH_TOKEN="secret")
            assert told.returncode == 2
            assert "not run because a file says so" in told.stderr
            assert len(told.stderr.splitlines()) <= 3
        with pytest.raises(TimeoutError):
            listening.accept()
    assert not (tmp_path / "imported").exists()
