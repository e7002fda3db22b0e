"""The process that reads a tournament's file, which may be untrusted, within limits: its tables as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.tournament.session import parse_test, stored_settings
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.scores import block_scores
from ggp.tournament.statistics.standing import fault_lines, standing_of
from ggp.tournament.statistics.tables import (
    conduct_rows,
    cross_rows,
    game_rows,
    rating_rows,
    test_line,
    verdict_line,
)
from ggp.tournament.store import Store

_LAST_MATCHES = 500
"""The number of newest matches in the list."""


def tables_of(path: Path, sprt: Sprt | None = None) -> dict[str, Any]:
    """All tables of a tournament, with the test only for two players. Raises GdlError if the file is not a
    tournament or nothing has been played."""
    with Store(path, writing=False) as store:
        settings = stored_settings(store)
        results = store.results()
        failures = store.failures()
        faults = fault_lines(store.faulty())
    if settings is None:
        raise GdlError(f"{path.name} has no tournament yet")
    settings.check_played([result.fixture for result in results])
    settings.check_played([fixture for fixture, _ in failures])
    labels = settings.labels
    games = {game.name: game.roles for game in settings.games}
    standing = standing_of(results, labels, failures, faults)
    test = None
    if sprt is not None and len(labels) == 2:
        scores = block_scores(standing.results, *labels)
        test = {
            "line": test_line(sprt, scores),
            "bounds": sprt.bounds,
            "history": sprt.history(scores)[-_LAST_MATCHES:],
        }
    rated = rating_rows(standing)
    return {
        "name": settings.name,
        "clocks": [settings.startclock, settings.playclock],
        "rounds": settings.rounds,
        "played": len(results),
        "total": settings.matches,
        "players": labels,
        "ratings": [
            {
                "player": one.label,
                "elo": round(one.elo, 1),
                "low": round(one.low, 1),
                "high": round(one.high, 1),
                "sure": None if sure is None else round(100 * sure, 1),
            }
            for one, sure in rated
        ],
        "verdict": verdict_line(rated) if rated else "",
        "rated": standing.labels,
        "unrated": standing.reasons,
        "cross": [row[1:] for row in cross_rows(standing)],
        "games": game_rows(standing, games),
        "conduct": conduct_rows(results),
        "faults": [[f.label, f.text, f.times, f.match, f.game, f.when] for f in faults],
        "failures": standing.failure_lines(failures),
        "test": test,
        "matches": [
            {
                "number": number,
                "game": result.fixture.game,
                "round": result.fixture.round,
                "seats": result.fixture.seats,
                "goals": result.goals,
                "steps": result.steps,
                "seconds": round(result.seconds, 1),
                "faults": sum(map(sum, result.faults)),
                "completed": result.completed,
            }
            for number, result in list(enumerate(results, 1))[-_LAST_MATCHES:]
        ],
    }


MEMORY = 1024**3
CPU_SECONDS = 600.0


def answer(request: JsonMessage, news: Send) -> dict[str, object]:
    """The ``tables`` of the file at ``path``, with the test ``sprt`` unless that is empty. Raises
    GdlError."""
    sprt = parse_test(request["sprt"]) if request["sprt"] else None
    return {"tables": tables_of(Path(request["path"]), sprt)}


def main() -> None:
    """Answer until the other end is gone."""
    answer_requests(answer, "tournament", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
