"""Games are classified while they are played."""

from __future__ import annotations

import queue

from ggp.match_process.game_kind import Classifier
from propnet.analysis.classify import Classification
from tests.propnet.circuits import tic_tac_toe

LONG = 60.0


def test_a_game_is_classified_in_a_process_of_its_own() -> None:
    results: queue.SimpleQueue[object] = queue.SimpleQueue()
    classifier = Classifier(tic_tac_toe(), results.put, results.put)
    seen = results.get(timeout=LONG)
    assert isinstance(seen, Classification)
    assert seen.roles == 2
    classifier.stop()


def test_a_classifier_that_is_stopped_says_nothing() -> None:
    results: queue.SimpleQueue[object] = queue.SimpleQueue()
    classifier = Classifier(tic_tac_toe(), results.put, results.put)
    classifier.stop()
    classifier.join(LONG)
    assert results.empty()
