"""``python -m bench.truth --minutes 30``: checks claims until the time is over, and prints what was checked.

A fault names its field and seed: ``python -m bench.truth --only FIELD --seed SEED --cases 1`` shows it again.
Exit status 1 if there was one.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from rich.console import Console
from rich.table import Table

from bench.scripts import command_line
from bench.truth import covers, disassembly, frontiers, games, matches, puzzles, set_games, sokoban
from bench.truth.field import Case, Field

FIELDS: tuple[Field, ...] = (
    sokoban.FIELD,
    puzzles.FIELD,
    set_games.FIELD,
    frontiers.FIELD,
    games.FIELD,
    matches.FIELD,
    covers.FIELD,
    disassembly.FIELD,
)


def run(
    fields: tuple[Field, ...], seconds: float, seed: int = 0, most: int | None = None
) -> dict[str, list[Case]]:
    """Check instances of each field in turn, all with the same share of the time.

    Args:
        seconds: wall time in all.
        seed: of the first instance; the others follow.
        most: instances of each field, at most.

    Returns:
        The cases by field; texts are kept of those with faults alone.
    """
    end = time.monotonic() + seconds
    found: dict[str, list[Case]] = {field.name: [] for field in fields}
    used = dict.fromkeys(found, 0.0)
    open_fields = list(fields)
    while open_fields and time.monotonic() < end:
        field = min(open_fields, key=lambda one: used[one.name])
        began = time.monotonic()
        case = field.case(seed + len(found[field.name]))
        if not case.faults:
            case.text = ""
        found[field.name].append(case)
        used[field.name] += time.monotonic() - began
        if len(found[field.name]) == most:
            open_fields.remove(field)
    return found


def _table(found: dict[str, list[Case]]) -> Table:
    table = Table("field", "claim", "checked", "false")
    for name, cases in found.items():
        claims: Counter[str] = sum((case.claims for case in cases), Counter())
        table.add_row(name, "instances", f"{len(cases):,}", f"{sum(bool(case.faults) for case in cases):,}")
        for claim, count in sorted(claims.items()):
            false = sum(fault.startswith(claim) for case in cases for fault in case.faults)
            table.add_row("", claim, f"{count:,}", f"{false:,}" if false else "")
    return table


def main() -> int:
    """Run from the command line."""
    parser = command_line(__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--only", choices=[field.name for field in FIELDS], action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, help="instances of each field, at most")
    options = parser.parse_args()
    fields = tuple(field for field in FIELDS if not options.only or field.name in options.only)
    found = run(fields, 60 * options.minutes, options.seed, options.cases)
    console = Console(highlight=False)
    console.print(_table(found))
    faulty = [(name, case) for name, cases in found.items() for case in cases if case.faults]
    for name, case in faulty[:20]:
        print(f"\n--only {name} --seed {case.seed} --cases 1\n{case.text}")
        for fault in case.faults:
            print(f"  {fault}")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
