"""All matches of a tournament as files: JSON as game managers publish it, and CSV for spreadsheets."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from ggp.tournament.store import FAULTS, Store


def write_json(store: Store, path: Path) -> int:
    """Write all match records as one JSON array; returns how many.

    Beside the public keys each has ``game`` and ``round``.
    """
    count = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for fixture, record in store.records():
            fields = {"game": fixture.game, "round": fixture.round, **record}
            file.write(("," if count else "") + "\n" + json.dumps(fields, ensure_ascii=False))
            count += 1
        file.write("\n]\n")
    return count


def write_csv(store: Store, path: Path) -> int:
    """Write a line for each role of each match; returns how many matches."""
    results = store.results()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ("match", "game", "round", "role", "player", "goal", "completed", "steps", "seconds", *FAULTS)
        )
        for number, result in enumerate(results, 1):
            fixture = result.fixture
            for role, label in enumerate(fixture.seats):
                writer.writerow(
                    (
                        number,
                        fixture.game,
                        fixture.round,
                        role + 1,
                        label,
                        result.goals[role],
                        int(result.completed),
                        result.steps,
                        f"{result.seconds:.2f}",
                        *result.faults[role],
                    )
                )
    return len(results)
