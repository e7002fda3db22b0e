"""``python -m bench.teach``: make the knowledge that comes along with the bundled games.

Each game is trained (``ggp train``) for its minutes in a folder of its own, ``--work``, and its knowledge is
written to ``games/knowledge`` if a trial found it better than none. It can be stopped at any time: games that
have had their minutes and their trial are not trained again. The table in docs is written from what lies in
``games/knowledge``, so one game can be taught alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ggp.game import Game
from ggp.tournament.statistics.scores import Tally
from ggp.training.trial import interval
from players.knowledge import store
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.store import KnowledgeStore, bundled_files, bundled_name, read_file

MINUTES = {
    "breakthrough": 22, "othello": 22, "chess": 30, "ninemensmorris": 14, "backgammon": 28, "atarigo": 21,
    "checkers": 60, "chinesecheckers": 10,
}  # fmt: skip
"""Minutes of training, on one core; the last two were not tried with nets that stand by themselves.
Amazons, hex and kalah are not among them: nothing was won there in 8 to 12 minutes."""
_TRIAL_MINUTES = 10.0
_ROOT = Path(__file__).resolve().parents[1]
PAGE = _ROOT / "docs" / "measurements" / "coming-along.md"
_HEAD = """---
orphan: true
---
# Knowledge that comes along: measurements

[All measurements](../measurements.md)

Made by `python -m bench.teach`. The score is that of the trial which chose this use of the values, at
equal CPU time: `uct` with them against `uct` without, or against linear weights if these were in use.

| game | values | minutes | moves of self-play | s a move | won, drawn, lost | share, 95 % | kB |
|---|---|---|---|---|---|---|---|
"""


def teach(game: str, minutes: float, work: Path) -> GameKnowledge | None:
    """Train a game for so long, or go on with it, and return its knowledge; None if nothing was found better
    than playing without."""
    own = KnowledgeStore(work / "knowledge")
    fingerprint = canonical_names(Game.load(game).rules).fingerprint
    known = own.get(fingerprint)
    left = minutes - (0.0 if known is None else known.seconds / 60.0)
    if left > 0.0 or known is None or not known.record.seconds:
        command = [sys.executable, "-m", "ggp", "train", game, "--minutes", f"{max(0.0, left):.2f}"]
        command += ["--trial-minutes", f"{_TRIAL_MINUTES}"]
        subprocess.run(command, env=os.environ | {"GGP_CACHE": str(work)}, check=True)
        known = own.get(fingerprint)
    return known if known is not None and known.share else None


def rows() -> Iterator[str]:
    """The rows of the table, from the files that come along."""
    for path in bundled_files():
        known = read_file(path)
        record = known.record
        tally = Tally(record.wins, record.draws, record.losses)
        low, high = interval(tally)
        yield (
            f"| {known.game} | {known.model}, {known.use} | {known.seconds / 60:.0f} | {known.moves:,} |"
            f" {record.seconds:g} | {tally.wins}, {tally.draws}, {tally.losses} | {low:.0%} to {high:.0%} |"
            f" {path.stat().st_size / 1000:.0f} |\n"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("games", nargs="*", help="bundled games (default: all that have minutes)")
    parser.add_argument("--work", type=Path, required=True, help="where training keeps what it learns")
    parser.add_argument("--minutes", type=float, help="instead of each game's own")
    options = parser.parse_args(arguments)
    for game in options.games or MINUTES:
        known = teach(game, options.minutes if options.minutes is not None else MINUTES[game], options.work)
        for old in store.BUNDLED.glob(f"{game}.*.knowledge"):
            old.unlink()
        if known is None:
            print(f"{game}: nothing better than without", flush=True)
            continue
        store.BUNDLED.mkdir(exist_ok=True)
        (store.BUNDLED / bundled_name(known)).write_bytes(known.carried())
        print(f"{game}: {bundled_name(known)}", flush=True)
    PAGE.write_text(_HEAD + "".join(rows()))


if __name__ == "__main__":
    main()
