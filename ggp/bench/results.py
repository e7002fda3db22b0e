"""Files of measurements: read, compared, ratios and geometric means.

A *row* is one game on one machine: the fields of :class:`ggp.bench.measure.Measurement`, and ``status``:
``ok``, or the reason why there are no such fields. Files are JSON lines, a JSON list of rows, or a JSON
object with the list under ``rows``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from gdl.errors import GdlError
from gdl.reading import read_limited

Row = dict[str, Any]

_MOST_BYTES = 64 << 20

READY = ("ground_s", "build_s", "compile_s", "first_playout_s")
"""The stages from the rules to the first finished playout."""


def read_results(path: Path) -> tuple[Row, list[Row]]:
    """What a file says of the run as a whole (may be empty), and its rows.

    A last line that breaks off (the run was stopped) is left out; of several rows of the same game and
    machine the last counts. Raises GdlError if the file cannot be read, or holds something else.
    """
    data = read_limited(path, _MOST_BYTES)
    about: Row = {}
    rows: dict[tuple[str, str], Row] = {}
    for value in _values(data):
        if not isinstance(value, dict) or not ("about" in value or {"game", "machine"} <= value.keys()):
            raise GdlError(
                f"{path} does not hold measurements", remedy="`ggp bench --json` writes such files"
            )
        if "about" in value:
            about = value["about"]
        else:
            value.setdefault("status", "ok")
            rows[value["game"], value["machine"]] = value
    return about, list(rows.values())


def _values(data: bytes) -> list[Any]:
    """The JSON values of a file of any of the three kinds; only None if it is none of them."""
    try:
        whole = orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    else:
        if isinstance(whole, dict) and isinstance(whole.get("rows"), list):
            return [{"about": whole.get("about", {})}, *whole["rows"]]
        return whole if isinstance(whole, list) else [whole]
    lines = data.split(b"\n")
    values = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            values.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            if number < len(lines) - 1:
                return [None]
    return values or [None]


def ready_seconds(row: Row) -> float:
    """CPU seconds from the rules to the first finished playout."""
    return float(sum(row.get(stage, 0.0) for stage in READY))


def spread(row: Row) -> float:
    """Half of the range of the repetitions, as a share of the median."""
    middle = row["states_per_cpu_s"]
    rates = row.get("rates") or [middle]
    return float((max(rates) - min(rates)) / 2 / middle) if middle else 0.0


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean of positive numbers; 1 for none."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else 1.0


@dataclass(frozen=True, slots=True)
class Change:
    """One game on one machine, before and after.

    Attributes:
        old, new: states per CPU second; 0 where there is no such measurement.
        sure: whether the repetitions differ beyond their noise, see :func:`differ` (the whole computer
            may still have been slower once).
        old_ready, new_ready: CPU seconds from the rules to the first playout.
        note: why there is no ratio, if there is none.
    """

    game: str
    machine: str
    old: float
    new: float
    sure: bool
    old_ready: float
    new_ready: float
    note: str = ""

    @property
    def ratio(self) -> float:
        """New over old; 0 where one is missing."""
        return self.new / self.old if self.old and self.new else 0.0


def differ(old: list[float], new: list[float]) -> bool:
    """Whether two samples differ by more than noise: the rank test of Mann and Whitney.

    Of all pairs at least 92 % must point the same way; samples of five of the same distribution do so in 3 of
    100 cases. Fewer than three values prove nothing.
    """
    pairs = [(a, b) for a in old for b in new]
    larger = sum((b > a) + (b == a) / 2 for a, b in pairs) / max(1, len(pairs))
    return min(len(old), len(new)) >= 3 and not 0.08 < larger < 0.92


def compare(old: list[Row], new: list[Row]) -> list[Change]:
    """What changed for every game and machine of ``new``.

    Compares states per CPU second: unlike playouts they do not depend on how long the few playouts of a slow
    machine happened to last.
    """
    before = {(row["game"], row["machine"]): row for row in old}
    return [_change(before.get((row["game"], row["machine"])), row) for row in new]


def _change(old: Row | None, new: Row) -> Change:
    def rate(row: Row | None) -> float:
        return float(row["states_per_cpu_s"]) if row is not None and row["status"] == "ok" else 0.0

    note = ""
    sure = True
    if old is None:
        note = "not measured before"
    elif not rate(new):
        note = f"now: {new['status']}" if new["status"] != "ok" else "no state was ever left"
    elif not rate(old):
        note = f"before: {old['status']}"
    else:
        sure = differ(old.get("rates", []), new.get("rates", []))
    return Change(
        new["game"],
        new["machine"],
        rate(old),
        rate(new),
        sure,
        ready_seconds(old) if rate(old) and old is not None else 0.0,
        ready_seconds(new) if rate(new) else 0.0,
        note,
    )
