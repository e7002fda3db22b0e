"""A class that hangs, wherever it does, costs its own clock, and the terminal says who is waited for."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp.game import Game
from ggp.protocol.match_record import MatchRecord
from ggp.tournament import referee, settings
from ggp.tournament.process import TournamentProcess
from ggp.tournament.referee import PlayerTerms, ProcessPlayer
from ggp.tournament.settings import parse_entrants

HANGS = """
import time
from players.baselines import LegalPlayer
class Made(LegalPlayer):
    def __init__(self, **options):
        time.sleep(1000)
class Prepared(LegalPlayer):
    def prepare(self, *_):
        time.sleep(1000)
class Chosen(LegalPlayer):
    def decide(self, *_):
        time.sleep(1000)
class Stopped(LegalPlayer):
    def stop(self):
        time.sleep(1000)
"""


@pytest.mark.parametrize("stage", ["Made", "Prepared", "Chosen", "Stopped"])
def test_a_player_that_hangs_before_the_match_is_named_and_refused(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hangs.py").write_text(HANGS, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(referee, "READY_SECONDS", 3.0)
    monkeypatch.setattr(referee, "REMIND_SECONDS", 0.1)
    rules = Game.load("tictactoe").kif
    terms = PlayerTerms("Slow", f"hangs:{stage}", rules, "prover", False, 1, (), 1.0, 1.0)
    reminders: list[str] = []

    async def load() -> bool:
        process = await TournamentProcess.start("ggp.tournament.player_process")
        player = ProcessPlayer(process, terms, MatchRecord("m", 1, 1, ["a", "b"]))
        try:
            with pytest.raises(GdlError, match="Slow cannot play: it is not ready after 3 s"):
                await player.load(0, reminders.append)
            return player.stop()
        finally:
            process.kill()
            await process.close()

    assert not asyncio.run(load()), "its process is not kept for another match"
    assert reminders == ["waiting for Slow"]


def test_an_import_that_hangs_is_named_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hanging_import.py").write_text("import time\ntime.sleep(1000)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(settings, "READY_SECONDS", 0.4)
    monkeypatch.setattr(settings, "REMIND_SECONDS", 0.2)
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(GdlError, match=r"hanging_import cannot be imported: .*:Player is not done after"):
        parse_entrants(["hanging_import:Player"])
    assert capsys.readouterr().err == "ggp: waiting for the import of hanging_import:Player\n"
    assert signal.getsignal(signal.SIGALRM) == before
    time.sleep(0.5)  # nothing rings any more
