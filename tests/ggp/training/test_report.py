"""A training's page stands alone, and shows squares as they lie on the board."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ggp.tournament.statistics.scores import Tally
from ggp.training.report import training_report, worth_of_squares
from ggp.training.trial import TrialVerdict
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.features import Features
from players.knowledge.training import Training, TrainingProgress
from tests.machines import network


def test_squares_are_where_the_rules_order_them() -> None:
    machine = network("breakthrough")
    names = canonical_names(machine.rules)
    known = Training(machine, names).knowledge("breakthrough")
    features = Features.of(machine.network.bases, names)
    weights = np.zeros_like(known.weights)
    base = next(i for i, term in enumerate(machine.network.bases) if str(term) == "(cell c 5 white)")
    own = features.feature[features.start[base] : features.start[base + 1]]
    alone = [f for f in own.tolist() if np.count_nonzero(features.feature == f) == 1]
    weights[alone] = 1.0
    boards = worth_of_squares(machine, replace(known, weights=weights))
    assert set(boards) == {"white", "black"}
    board = boards["white"]
    assert board.shape == (8, 8) and board[4, 2] > 0 and np.count_nonzero(np.nan_to_num(board)) == 1
    assert not np.nan_to_num(boards["black"]).any()


def test_the_page_has_the_course_the_matches_and_the_board() -> None:
    machine = network("connectfour")
    known = Training(machine, canonical_names(machine.rules)).knowledge("connectfour")
    progress = TrainingProgress(100, 5, 0.25, 0.5, 1000)
    trial = TrialVerdict("linear", "no knowledge", 0.5, False, Tally(7, 1, 2), True, True)
    page = training_report("<four>", machine, known, {"linear": [(5.0, progress)]}, [trial])
    assert "&lt;four&gt;" in page and "<four>" not in page
    assert (
        page.count("<table>") >= 4
        and "7.5 of 10 points" in page
        and "<p>Training was worth it: linear got 7.5 of 10 points" in page
        and "http" not in page
    )
    assert "yellow" in page
    assert training_report("four", machine, known, {}, []).count("background: rgb(") == 84
