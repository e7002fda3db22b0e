"""How fast is every game of some folders on every machine?

    python -m bench.table ../shared/corpus/games games
    python -m bench.table ../shared/corpus/games --resume          # goes on where it was stopped
    python -m bench.table ../shared/corpus/games --games ticTacToe reversi 'chess*' --machines propnet
    python -m bench.table --report bench/out/table.jsonl           # only write the report anew

writes to bench/out (or the folder of ``--out``): table.jsonl, a line per game and machine as it is measured;
table.json, the same sorted, with the computer's description; table.md, the report.
``ggp bench NEW --compare OLD`` compares two runs. A game that takes too long or too much
memory, or kills its process, is a line that says so.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from bench.scripts import command_line
from bench.table.report import report
from bench.table.run import jobs_of, run, still_to_do
from ggp.bench import Row, levels, read_results


def main() -> None:
    """Read the arguments, measure what is missing, write the report."""
    parser = command_line(__doc__)
    add = parser.add_argument
    add("paths", nargs="*", type=Path, help=".kif files, or folders of them")
    add("--games", nargs="*", default=[], metavar="PATTERN", help="only games with such names")
    add("--machines", nargs="*", default=list(levels()), choices=levels(), help="default: all")
    add("--seconds", type=float, default=1.0, help="CPU seconds of playouts per game and machine")
    add("--repetitions", type=int, default=5, help="batches of playouts; their median counts")
    add("--seed", type=int, default=0)
    add("--cpu-limit", type=float, default=150.0, help="CPU seconds per game and machine, all included")
    add("--memory-limit", type=float, default=6.0, help="GB of data per game and machine")
    add("--out", type=Path, default=Path("bench/out"), help="folder to write to")
    add("--resume", action="store_true", help="keep the lines that are there, measure the rest")
    add("--again", action="store_true", help="with --resume: measure the failed ones again")
    add("--report", type=Path, metavar="RESULTS", help="measure nothing, report on this file")
    given = parser.parse_args()
    console = Console(stderr=True)
    given.out.mkdir(parents=True, exist_ok=True)
    if given.report:
        report(*read_results(given.report), given.out)
        return
    if not given.paths:
        parser.error("which games? name folders or .kif files")
    lines = given.out / "table.jsonl"
    keys = ("seconds", "repetitions", "seed", "cpu_limit", "memory_limit")
    rows: list[Row] = []
    if lines.exists() and lines.stat().st_size:
        if not given.resume:
            parser.error(f"{lines} exists: --resume goes on with it, --out writes elsewhere")
        rows = read_results(lines)[1]
    jobs = still_to_do(jobs_of(given.paths, given.machines, given.games), rows, given.again)
    try:
        if jobs:
            run(jobs, {key: getattr(given, key) for key in keys}, lines, console)
    except KeyboardInterrupt:
        console.print(f"stopped; the same with --resume goes on with {lines}")
        raise SystemExit(130) from None
    report(*read_results(lines), given.out)
    console.print(f"{given.out}: table.jsonl, table.json, table.md")


main()
