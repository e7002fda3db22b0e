"""Codings of states as JSON: in checkpoints of searches and in tables."""

from __future__ import annotations

from typing import Any

from gdl.json_schema import FLAG, check_json, record, row, rows, whole
from propnet.recoding.coding import Coding, ExclusiveGroup

MOST_BASES = 1 << 20
BASES = rows(whole(0, MOST_BASES))
"""Numbers of base propositions."""
_GROUPS = rows(row(BASES, FLAG))
CODING_SCHEMA = record(bases=whole(0, MOST_BASES), groups=_GROUPS, clocks=_GROUPS, left_out=BASES)


def coding_as_json(coding: Coding) -> dict[str, Any]:
    """A coding for a checkpoint."""
    parts = [
        [[list(group.members), group.exact] for group in part] for part in (coding.groups, coding.clocks)
    ]
    return {"bases": coding.bases, "groups": parts[0], "clocks": parts[1], "left_out": list(coding.left_out)}


def coding_from_json(body: object) -> Coding:
    """The coding of a checkpoint. Raises GdlError and ValueError for what is none."""
    check_json(body, CODING_SCHEMA, "coding")
    assert isinstance(body, dict)
    groups, clocks = (
        tuple(ExclusiveGroup(tuple(members), exact) for members, exact in body[part])
        for part in ("groups", "clocks")
    )
    return Coding(body["bases"], groups, clocks, tuple(body["left_out"]))
