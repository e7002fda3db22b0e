"""Every claim of every solver holds on small odd instances; a claim that does not is found."""

from __future__ import annotations

import pytest

from bench.truth import __main__ as truth
from bench.truth import covers
from bench.truth.field import Field
from players.puzzles.cover.engines.memo import MemoCounter

INSTANCES = {
    "sokoban": 12,
    "puzzles": 8,
    "set-games": 8,
    "frontiers": 5,
    "games": 12,
    "matches": 8,
    "covers": 25,
    "disassembly": 100,
}
"""About a minute together; ``python -m bench.truth --minutes 30`` is for the night."""


@pytest.mark.slow
@pytest.mark.parametrize("field", truth.FIELDS, ids=lambda field: field.name)
def test_no_claim_is_false(field: Field) -> None:
    cases = truth.run((field,), seconds=600.0, most=INSTANCES[field.name])[field.name]
    assert len(cases) == INSTANCES[field.name]
    assert sum(case.claims.total() for case in cases) >= len(cases)
    assert [(case.seed, case.text, case.faults) for case in cases if case.faults] == []


@pytest.mark.slow
def test_a_false_claim_is_found_and_told_with_its_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    finish = MemoCounter._finish

    def wrong(self: MemoCounter) -> None:
        finish(self)
        self.count += 1

    monkeypatch.setattr(MemoCounter, "_finish", wrong)
    cases = truth.run((covers.FIELD,), seconds=600.0, most=6)["covers"]
    faulty = [case for case in cases if case.faults]
    assert faulty
    assert all(case.text.startswith("CoverProblem(") for case in faulty)
    assert any(fault.startswith("memo counts: claims ") for case in faulty for fault in case.faults)
