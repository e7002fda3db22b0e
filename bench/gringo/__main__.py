"""How much CPU time does our grounder take beside gringo (PyPI ``clingo``)?

    python -m bench.gringo ../shared/corpus/games --out gringo.json --markdown gringo.md

Two comparisons, each with its geometric mean over the games that both ground:

- *grounding*: parsed rules in, ground rules out. Ours is ``gdl.grounding.pipeline.ground``; gringo's is
  ``Control.add`` and ``Control.ground`` on the translated text, the translation not counted.
- *whole*: the text of the rules in, ground rules out. Both begin with our parser; gringo's way then goes
  through normal form and the translation to ASP.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import orjson
from rich.progress import track

from bench.gringo.compare import measure, ours, theirs
from bench.processes import rules_files
from ggp.bench.results import geometric_mean


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and means over all games."""
    both = [r for r in results if r["ours"]["status"] == r["gringo"]["status"] == "ok"]

    return {
        "games": len(results),
        "ours_ok": sum(r["ours"]["status"] == "ok" for r in results),
        "gringo_ok": sum(r["gringo"]["status"] == "ok" for r in results),
        "both": len(both),
        "geometric_mean_ground": geometric_mean(_ratio(r, "ground_s") for r in both),
        "geometric_mean_whole": geometric_mean(_ratio(r, "whole_s") for r in both),
        "total_ground_ours_s": sum(r["ours"]["ground_s"] for r in both),
        "total_ground_gringo_s": sum(r["gringo"]["ground_s"] for r in both),
    }


def _ratio(result: dict[str, Any], key: str) -> float:
    return float(max(result["ours"][key], 1e-5) / max(result["gringo"][key], 1e-5))


def markdown(results: list[dict[str, Any]], counts: dict[str, Any]) -> str:
    """The table and the summary."""
    lines = [
        f"Geometric mean of our CPU time over gringo's, {counts['both']} games: grounding "
        f"{counts['geometric_mean_ground']:.2f}, whole {counts['geometric_mean_whole']:.2f}. "
        f"Sum of grounding: ours {counts['total_ground_ours_s']:.1f} s, gringo "
        f"{counts['total_ground_gringo_s']:.1f} s. Grounded: ours {counts['ours_ok']}, gringo "
        f"{counts['gringo_ok']} of {counts['games']}.",
        "",
        "| game | ours, s | gringo, s | ratio | ours whole, s | gringo whole, s | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results:
        a, b = r["ours"], r["gringo"]
        cells = [r["game"]]
        for key in ("ground_s", "whole_s"):
            cells += [f"{x[key]:.4f}" if x["status"] == "ok" else x["status"] for x in (a, b)]
            cells.append(f"{_ratio(r, key):.2f}" if a["status"] == b["status"] == "ok" else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the arguments, measure, print the summary, write the files."""
    question = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m bench.gringo", description=question)
    parser.add_argument("paths", nargs="+", type=Path, help=".kif files, or folders of them")
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds per game and side")
    parser.add_argument("--out", type=Path, help="write all findings as JSON")
    parser.add_argument("--markdown", type=Path, help="write the table as Markdown")
    parser.add_argument("--known", type=Path, help="take gringo's times from an earlier --out")
    given = parser.parse_args()
    known = {}
    if given.known:
        known = {r["game"]: r["gringo"] for r in orjson.loads(given.known.read_bytes())["results"]}
    results: list[dict[str, Any]] = []
    for path in track(rules_files(given.paths), description="games"):
        gringo = known.get(path.stem) or measure(theirs, path, given.limit)
        results.append({"game": path.stem, "ours": measure(ours, path, given.limit), "gringo": gringo})
        if given.out:  # as far as it goes, in case it is stopped
            content = {"summary": summary(results), "results": results}
            given.out.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
    text = markdown(results, summary(results))
    print(text if not given.markdown else text.splitlines()[0])
    if given.markdown:
        given.markdown.write_text(text)


main()
