"""The live table and the report of a tournament."""

from __future__ import annotations

import io
import random
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ggp.console import new_console
from ggp.tournament.schedule import Fixture
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.report import html_report
from ggp.tournament.statistics.standing import standing_of
from ggp.tournament.statistics.tables import LiveTable, rating_rows, verdict_line
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


def parts_of(page: str) -> tuple[set[str], list[str]]:
    """All tags of a page, and what its attributes refer to."""
    tags: set[str] = set()
    references: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.add(tag)
            references.extend(
                value or "" for name, value in attrs if name.rpartition(":")[2] in ("src", "href", "data")
            )

    Reader().feed(page)
    return tags, references


def test_the_report_needs_nothing_from_elsewhere_and_shows_hostile_names_as_text(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    evil = '<script src="http://evil/x.js">$x$</script>'
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
    assert "&lt;script" in page
    tags, references = parts_of(page)
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "base", "b"})
    assert [reference for reference in references if not reference.startswith(("#", "data:"))] == []
    assert not re.search(r"@import|url\((?!#)", page)
    assert page.count("<svg") == page.count("</svg>") == 3
    for heading in ("Ratings", "Crosstable", "By game", "Conduct", "Sequential test", "could not be run"):
        assert heading in page


def test_scores_in_the_picture_of_games_can_be_read_and_are_none_where_nobody_played() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    from ggp.tournament.statistics.report import figures, ink_on

    def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
        def luminance(colour: tuple[float, ...]) -> float:
            linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
            return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

        darker, lighter = sorted((luminance(one), luminance(other)))
        return (lighter + 0.05) / (darker + 0.05)

    for score in range(101):
        ground = matplotlib.colormaps["RdYlGn"](score / 100)[:3]
        assert contrast(matplotlib.colors.to_rgb(ink_on(ground)), ground) >= 4.5
    none = ((0, 0, 0), (0, 0, 0))
    results = [
        Result(Fixture("g", 1, ("a", "b")), (100, 0), none, True, 9, 1.0),
        Result(Fixture("h", 1, ("b", "c")), (100, 0), none, True, 9, 1.0),
    ]
    labels = ["a", "b", "c"]
    picture = figures(standing_of(results, labels), labels)["games"].axes[0]
    assert [text.get_text() for text in picture.texts] == ["100", "0", "100", "0"]


def test_a_report_on_nothing_is_a_report() -> None:
    pytest.importorskip("matplotlib")
    assert "0 matches" in html_report(settings_of("a", "b"), [])


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
