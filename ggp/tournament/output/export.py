"""All matches of a tournament in a file: JSON as game managers publish it, or CSV for spreadsheets."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from ggp.tournament.store import FAULTS, Store


def write_json(store: Store, path: Path) -> int:
    """Write all match records as one JSON array, each with ``game`` and ``round`` beside the public keys;
    returns how many."""
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
            match = (number, fixture.game, fixture.round)
            length = (int(result.completed), result.steps, f"{result.seconds:.2f}")
            for role, label in enumerate(fixture.seats):
                writer.writerow((*match, role + 1, label, result.goals[role], *length, *result.faults[role]))
    return len(results)
