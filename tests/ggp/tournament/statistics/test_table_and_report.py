"""The live table and the report of a tournament."""

from __future__ import annotations

import io
import json
import random
import re

import pytest

from ggp.console import new_console
from ggp.tournament.schedule import Fixture
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.standing import standing_of
from ggp.tournament.statistics.tables import LiveTable, html_report, rating_rows, verdict_line
from ggp.tournament.store import Result
from tests.ggp.tournament.small_settings import settings_of


@pytest.mark.parametrize("terminal", [True, False])
def test_the_live_table_shows_what_is_played_and_what_came_out(terminal: bool) -> None:
    shown = io.StringIO()
    console = new_console(file=shown, force_terminal=terminal, width=120, color_system=None)
    results: list[Result] = []
    view = LiveTable(console, results, ["a", "[b]"], 4, Sprt(0, 50))
    console.print(view)
    fixtures = [Fixture("g", 1, ("a", "[b]")), Fixture("g", 1, ("[b]", "a")), Fixture("g", 2, ("a", "[b]"))]
    for fixture in fixtures:
        view.began(fixture)
    view.step(fixtures[2], 17)
    for fixture in fixtures[:2]:
        results.append(Result(fixture, (100, 0), ((0, 0, 0), (0, 2, 0)), True, 9, 1.0))
        view.ended(fixture, results[-1], "")
    view._standing_at = 0.0
    console.print(view)
    text = shown.getvalue()
    for part in ("0 of 4 matches", "2 of 4 matches", "step 17", "[b]", "+1 =0 -1", "after 1 opening,"):
        assert part in text
    assert ("2/4 g 1: [b] - a  100 - 0" in text) is not terminal
    view.ended(fixtures[2], None, "it broke")
    assert "it broke" in shown.getvalue()


def test_the_report_needs_nothing_from_elsewhere_and_no_name_is_markup() -> None:
    evil = '</script><script src="http://evil/x.js">$x$</script>'
    tournament = settings_of("a", evil)
    rng = random.Random(1)
    results = [
        Result(
            Fixture("g", number, seats), (goal, 100 - goal), ((0, 1, 0), (0, 0, 0)), True, 9, 1.0
        )
        for number in range(1, 6)
        for seats in (("a", evil), (evil, "a"))
        for goal in [rng.choice((0, 50, 100))]
    ]  # fmt: skip
    failures = [(Fixture("h", 1, ("a",)), "it <b>broke</b>")]
    page = html_report(tournament, results, failures, Sprt(0, 50))
    assert page.count("<script") == page.count("</script>") == 2 and "default-src 'none'" in page
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b|@import|url\((?!#)|\nimport ", page)
    told = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert told["players"] == ["a", evil] and len(told["matches"]) == 10 and told["test"]
    assert told["failures"] == ["h 1: a: it <b>broke</b>"]
    assert '"played":0' in html_report(settings_of("a", "b"), [])


def verdict(*goals: int) -> str:
    seats = ("a", "b")
    results = [
        Result(Fixture("g", number, seats), (goal, 100 - goal), ((0, 0, 0), (0, 0, 0)), True, 9, 1.0)
        for number, goal in enumerate(goals, 1)
    ]
    return verdict_line(rating_rows(standing_of(results, seats)))


def test_nobody_leads_before_it_is_likely_enough() -> None:
    assert verdict(*[50] * 6) == "no difference yet: a is stronger than b with 50.0 %"
    assert verdict(100, 0, 100, 100).startswith("no difference yet: a is stronger")
    assert re.fullmatch(r"b leads, 9\d\.\d % sure", verdict(*[0] * 12))
