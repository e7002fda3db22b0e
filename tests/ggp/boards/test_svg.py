"""Drawings as SVG: every square is there, every name is text, nothing runs."""

from __future__ import annotations

import gzip
import re
import xml.etree.ElementTree as ET
from itertools import islice
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.boards.board import board_of
from ggp.boards.svg.markup import drawing_policy, element, stylesheet, text_of
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.rule_files import games_folder

SVG = "{http://www.w3.org/2000/svg}"
PLAYTHROUGHS = sorted((games_folder() / "playthroughs").glob("*.jsonl"))


def painter_of(rules_file: Path, trace: Path, most: int) -> tuple[SvgPainter, list[frozenset[Term]]]:
    rules = parse_rules(rules_file.read_text(encoding="utf-8", errors="replace"), rules_file.stem)
    roles: tuple[Term, ...] = ()
    states: list[frozenset[Term]] = []
    with (gzip.open if trace.suffix == ".gz" else open)(trace, "rb") as lines:
        for line in islice(lines, most + 1):
            fields = orjson.loads(line)
            if fields["type"] == "game":
                roles = tuple(map(parse_term, fields["roles"]))
            elif fields["type"] == "step":
                states.append(frozenset(map(parse_term, fields["state"])))
    board = board_of(rules, roles, states, set().union(*states))
    return SvgPainter(board, rules, roles, rules_file.stem), states


def check(painter: SvgPainter, states: list[frozenset[Term]]) -> None:
    before = None
    for state in states:
        drawn = ET.fromstring(painter.draw(state, before))
        told = painter.describe(state, before)
        keys = [group.get("data-square") for group in drawn.iter(f"{SVG}g") if group.get("data-square")]
        assert keys == [square["square"] for square in told["squares"]]
        assert len(keys) == len(set(keys))
        assert (painter.board is None) == (not keys)
        width, height = (float(drawn.get(side, 0)) for side in ("width", "height"))
        for square in told["squares"]:
            assert 0 < square["x"] < width
            assert 0 < square["y"] < height
        for part in drawn.iter():
            assert part.tag != f"{SVG}script"
            assert not any(name.startswith("on") or name == "style" for name in part.attrib)
        # Every proposition is on the board or beside it.
        on = sum(len(square["things"]) for square in told["squares"])
        beside = sum(len(block["rows"]) for block in told["beside"])
        assert on + beside <= len(state)
        before = state


@pytest.mark.parametrize("trace", PLAYTHROUGHS, ids=lambda path: path.stem)
def test_every_game_of_ours_is_drawn(trace: Path) -> None:
    painter, states = painter_of(games_folder() / f"{trace.stem}.kif", trace, 40)
    check(painter, [states[0], *states[-2:]])


@pytest.mark.slow
def test_public_games_are_drawn(corpus: Path) -> None:
    """Every third; `python -m bench.boards` draws them all."""
    traces = sorted((corpus / "traces").glob("*.jsonl.gz"))[::3]
    assert traces
    for trace in traces:
        name = trace.name.partition(".")[0]
        painter, states = painter_of(corpus / "games" / f"{name}.kif", trace, 5)
        check(painter, states[-2:])


def test_what_has_changed_is_marked() -> None:
    machine = Game.load("tictactoe").machine("prover")
    painter = SvgPainter.of_machine(machine, "tictactoe")
    start = machine.initial_state()
    drawn = painter.draw_state(start.play("(mark b 2)"), start)
    marked = re.findall(
        r'data-square="([0-9,]*)"><title>[^<]*</title><rect [^>]*/><rect class="gb-new"', drawn
    )
    assert len(re.findall("gb-new", drawn)) == 1
    told = painter.describe(start.play("(mark b 2)").propositions, start.propositions)
    assert [square["name"] for square in told["squares"] if square["changed"]] == ["b 2"]
    assert "x on b 2" in drawn
    assert marked in ([], ["0,1,1"])


HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "]]>&lt;", "a\x00b\x1f\ufffe", "'"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(name: str) -> None:
    rules = parse_rules("(role a) (init (p b)) (<= (legal a n) (true (p b))) (<= terminal (true (p b)))", "x")
    painter = SvgPainter(None, rules, (Term("a"),), name)
    drawn = ET.fromstring(painter.draw([Term(name, Term(name), Term(name)), Term(name)], alone=True))
    assert {part.tag for part in drawn.iter()} <= {
        SVG + t for t in ("svg", "title", "desc", "style", "g", "rect", "text")
    }
    assert all(not key.startswith("on") for part in drawn.iter() for key in part.attrib)


@given(st.text())
def test_any_text_can_be_written(text: str) -> None:
    read = ET.fromstring(element("a", text_of(text) or " ", title=text))
    assert set(read.attrib) == {"title"}
    assert len(read) == 0


def test_a_drawing_that_stands_alone_carries_its_colours() -> None:
    machine = Game.load("tictactoe").machine("prover")
    painter = SvgPainter.of_machine(machine, "tictactoe")
    alone = painter.draw_state(machine.initial_state(), alone=True)
    assert stylesheet() in alone
    assert "http" not in stylesheet()
    assert drawing_policy().startswith("default-src 'none'; style-src 'sha256-")


def test_classes_of_drawings_are_in_the_stylesheet() -> None:
    used: set[str] = set()
    for trace in PLAYTHROUGHS:
        painter, states = painter_of(games_folder() / f"{trace.stem}.kif", trace, 30)
        for drawn in (painter.draw(states[-1], states[-2]),):
            used |= {cls for classes in re.findall(r'class="([^"]*)"', drawn) for cls in classes.split()}
    assert used - {"gb-square", "gb"} <= set(re.findall(r"\.(gb-[a-z0-9]+)", stylesheet()))
