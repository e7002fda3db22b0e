"""Records of matches."""

from __future__ import annotations

import orjson

from ggp.protocol.match_record import MatchRecord, draw_seed


def test_the_seed_is_told_at_the_end_only() -> None:
    record = MatchRecord("m", 1, 1, ["a"], seed=draw_seed())
    assert "seed" not in record.to_dict()
    record.aborted = True
    assert record.to_dict()["seed"] == str(record.seed)
    record.aborted, record.completed = False, True
    assert orjson.loads(record.to_json())["seed"] == str(record.seed)
