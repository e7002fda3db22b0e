"""All rungs of the ladder are learnt and tried in turn, and the one that did best learns on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gdl.machine import Machine
from ggp.game import Game
from ggp.tournament.statistics.scores import Tally
from ggp.training import ladder
from ggp.training.ladder import ON, Climb, LadderTerms, lane_machine_of
from ggp.training.trial import TrialTerms, TrialVerdict
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.store import KnowledgeStore

Found = tuple[list[TrialVerdict], GameKnowledge]
Trial = Callable[[Machine, GameKnowledge, "GameKnowledge | None", TrialTerms], Found]


def _climb(folder: Path, pairs: int = 1) -> Climb:
    machine = lane_machine_of(Game.load("tictactoe").machine("propnet"))
    terms = LadderTerms(0.3, 60.0, pairs, 0.01, 1)
    return Climb(machine, machine, "tictactoe", KnowledgeStore(folder), terms, lambda line: None)


def _trials(better: tuple[bool, ...], wins: tuple[int, ...], against: list[str]) -> Trial:
    """Trials with these outcomes of ten matches each; notes what was tried against what."""
    outcomes = iter(zip(better, wins, strict=True))

    def hold(machine: Machine, known: GameKnowledge, below: GameKnowledge | None, terms: TrialTerms) -> Found:
        found, won = next(outcomes)
        against.append(f"{known.model} {below.model if below else '-'}")
        verdict = TrialVerdict(0.5, Tally(won, 0, 10 - won), found, True)
        return [verdict], replace(known, share=0.5 if found else 0.0)

    return hold


def test_fresh_forgets_all_rungs(tmp_path: Path) -> None:
    climb = _climb(tmp_path, 0)
    fingerprint = climb.run(("linear", "net")).fingerprint
    assert len(climb.store.rungs(fingerprint)) == 2
    again = _climb(tmp_path, 0)
    again.terms = replace(climb.terms, fresh=True)
    again.run(("linear",))
    (known,) = again.store.rungs(fingerprint)
    assert known.model == "linear" and known.seconds < 10.0


@pytest.mark.parametrize("last", [True, False])
def test_the_rung_that_is_used_learns_on_and_is_used_whatever_its_last_trial_shows(
    last: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(ladder, "hold_trial", _trials((True, False, last), (9, 5, 4), tried))
    climb = _climb(tmp_path)
    known = climb.run(("linear", "net"))
    assert tried == ["linear -", "net linear", "linear -"]
    assert list(climb.courses) == ["linear", "net", "linear" + ON]
    kept = climb.store.get(known.fingerprint)
    assert known.model == "linear" and known.share == 0.5
    assert kept is not None and (kept.model, kept.share, kept.moves) == ("linear", 0.5, known.moves)


def test_where_no_rung_is_used_the_one_with_the_best_score_learns_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(ladder, "hold_trial", _trials((False, False, True), (3, 5, 9), tried))
    climb = _climb(tmp_path)
    known = climb.run(("linear", "net"))
    assert tried == ["linear -", "net -", "net -"]
    assert known.model == "net" and known.share == 0.5
    kept = climb.store.get(known.fingerprint)
    assert kept is not None and kept.model == "net" and kept.share == 0.5


def test_one_rung_alone_has_all_the_time_and_without_trials_the_first_learns_on(tmp_path: Path) -> None:
    climb = _climb(tmp_path / "one", pairs=0)
    assert climb.run(("net",)).model == "net" and list(climb.courses) == ["net"]
    climb = _climb(tmp_path / "all", pairs=0)
    known = climb.run(("linear", "net"))
    assert known.model == "linear" and known.share == 0.0 and not climb.verdicts
    assert list(climb.courses) == ["linear", "net", "linear" + ON]
    kept = climb.store.get(known.fingerprint)
    assert kept is not None and kept.moves == known.moves


def test_what_searches_use_is_kept_where_another_rung_is_learnt_later_and_loses_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was once put out by a lower rung that beat searches without knowledge."""
    tried: list[str] = []
    monkeypatch.setattr(ladder, "hold_trial", _trials((True, False, False), (9, 5, 4), tried))
    _climb(tmp_path).run(("net",))
    known = _climb(tmp_path).run(("linear",))
    assert (known.model, known.share) == ("net", 0.5)
    again = _climb(tmp_path).run(("net",))
    assert tried == ["net -", "linear net", "net -"]
    kept = KnowledgeStore(tmp_path).get(known.fingerprint)
    assert kept is not None and (kept.model, kept.share, kept.moves) == ("net", 0.5, again.moves)
    assert again.moves > known.moves
