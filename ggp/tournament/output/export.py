"""All matches of a tournament in a file: JSON as game managers publish it, or CSV for spreadsheets."""

from __future__ import annotations

import codecs
import csv
import json
from pathlib import Path

from ggp.output_file import replacing
from ggp.tournament.storage.store import FAULTS, Store


def write_json(store: Store, path: Path) -> int:
    """Write all match records as one JSON array, each with ``game`` and ``round`` beside the public keys;
    returns how many."""
    count = 0
    with replacing(path) as file:
        file.write(b"[")
        for fixture, record in store.records():
            fields = {"game": fixture.game, "round": fixture.round, **record}
            line = json.dumps(fields, ensure_ascii=False)
            file.write(f"{',' if count else ''}\n{line}".encode())
            count += 1
        file.write(b"\n]\n")
    return count


def write_csv(store: Store, path: Path) -> int:
    """Write a line for each role of each match; returns how many matches."""
    results = store.results()
    with replacing(path) as file:
        writer = csv.writer(codecs.getwriter("utf-8")(file))
        writer.writerow(
            (
                "match",
                "game",
                "round",
                "role",
                "player",
                "goal",
                "completed",
                "steps",
                "seconds",
                *FAULTS,
                "own moves",
            )
        )
        for number, result in enumerate(results, 1):
            fixture = result.fixture
            match = (number, fixture.game, fixture.round)
            length = (int(result.completed), result.steps, f"{result.seconds:.2f}")
            for role, label in enumerate(fixture.seats):
                own = result.own[role] if result.own else ""
                row = (*match, role + 1, label, result.goals[role], *length, *result.faults[role], own)
                writer.writerow(row)
    return len(results)
