"""Level files in all their forms give the same levels, and say where they are wrong."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.sokoban.city import write_levels
from gdl.errors import GdlError
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import (
    find_level,
    levels_of_file,
    names_level_file,
    read_levels,
    split_name,
)

SMALL = ("#####", "#@$.#", "#####")
MAP = "\n".join(SMALL)
ROOM = ("#######", "#+ $  #", "#  *  #", "# $ . #", "#######")


def rows_of(text: str) -> list[tuple[str, ...]]:
    return [level.rows for level in read_levels(text)]


@st.composite
def levels(draw: st.DrawFn) -> Level:
    """A closed room of any size with a keeper that can move, boxes and at least as many goals."""
    width, height = draw(st.integers(4, 12)), draw(st.integers(3, 9))
    rng = random.Random(draw(st.integers(0, 1 << 30)))
    floor = [(x, y) for x in range(1, width - 1) for y in range(1, height - 1)]
    for square in rng.sample(floor, rng.randint(0, len(floor) // 5)):
        floor.remove(square)
    boxes = rng.sample(floor, rng.randint(1, max(1, len(floor) // 4)))
    keeper = rng.choice([square for square in floor if square not in boxes])
    goals = set(rng.sample(floor, rng.randint(len(boxes), len(floor))))
    cells = [["#"] * width for _ in range(height)]
    for x, y in floor:
        kind = 2 if (x, y) == keeper else 1 if (x, y) in boxes else 0
        cells[y][x] = " $@.*+"[kind + 3 * ((x, y) in goals)]
    text = st.text(st.characters(whitelist_categories=["L", "Nd"], whitelist_characters=" ,!'"), max_size=20)
    words = [" ".join(draw(text).split()) for _ in range(2)]
    return Level(tuple(map("".join, cells)), *words)


def playable(level: Level) -> bool:
    try:
        read_levels(str(level))
    except GdlError:
        return False
    return True


def same(one: list[Level], two: list[Level]) -> bool:
    fields = ("rows", "title", "author")
    return [[getattr(level, f) for f in fields] for level in one] == [
        [getattr(level, f) for f in fields] for level in two
    ]


@given(st.lists(levels().filter(playable), min_size=1, max_size=4), st.booleans())
def test_levels_that_are_written_are_read_again(written: list[Level], run_lengths: bool) -> None:
    named = [Level(w.rows, w.title or "Untitled", w.author or "me") for w in written]
    assert same(read_levels(write_levels(named, run_lengths)), named)


@given(
    levels().filter(playable),
    st.sampled_from("-_ "),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(0, 3),
)
def test_dialects_are_one_language(level: Level, blank: str, end: str, trailing: int) -> None:
    letters = str.maketrans(
        {" ": blank, "$": "b", "*": "B", ".": "o", "@": "p", "+": "P"} if trailing % 2 else {" ": blank}
    )
    lines = [row.translate(letters) + " " * trailing for row in level.rows]
    assert rows_of(end.join([*lines, ""])) == [level.rows]


@given(levels().filter(playable))
def test_xml_is_read_as_text_is(level: Level) -> None:
    rows = "\n".join(f"<L>{row}</L>" for row in level.rows)
    text = (
        "<?xml version='1.0' encoding='ISO-8859-1'?>\n<SokobanLevels><Title>T</Title>"
        f"<LevelCollection Copyright='We'>\n<Level Id='One' Width='4'>\n{rows}\n</Level>"
        f"<Level Id='Two' Copyright='I'>{rows}</Level></LevelCollection></SokobanLevels>"
    )
    read = read_levels(text)
    assert [(r.rows, r.title, r.author, r.line) for r in read] == [
        (level.rows, "One", "We", 4),
        (level.rows, "Two", "I", 3 + len(level.rows) + 1),
    ]


@given(st.text(st.sampled_from("#@$.*+- _|()23\n\tbpx;:<Title"), max_size=80))
def test_any_text_gives_levels_or_one_readable_line(text: str) -> None:
    said = ""
    try:
        assert all(level.boxes for level in read_levels(text, "f.xsb"))
    except GdlError as error:
        said = str(error)
    assert not said or said.startswith("f.xsb")
    assert "\n" not in said


@pytest.mark.parametrize(
    "text",
    [
        "5#|#@$.#|5#",
        "5#|\n#@$.#|\n5#\n",
        "2(2#)#|#@$.#|2(2#)#",
        "--5#\n--#@$.#\n--5#",
        "\t#####\n\t#@$.#\n\t#####",
        "-----\n#####\n#@$.#\n#####\n-----",
        "*****\n\n; one\n" + MAP,
    ],
)
def test_one_level_in_many_forms(text: str) -> None:
    assert rows_of(text) == [SMALL]


def test_tabs_go_to_the_next_eighth_column() -> None:
    assert rows_of("######\t###\n#@$. \t..#\n###########".replace("######\t###", "###########")) == [
        ("###########", "#@$.    ..#", "###########")
    ]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (f"; A collection\n\n; 1\n\n{MAP}\n\n; 2\n\n{MAP}\n", ["1", "2"]),
        (f"A collection\n\n{MAP}\n\nFirst\n\n{MAP}\nSecond\n", ["First", "Second"]),
        (f"Level 1\n{MAP}\nLevel 2\n{MAP}\n", ["Level 1", "Level 2"]),
        (f"{MAP}\nTitle: One\nAuthor: Me\n\n{MAP}\nTitle: Two\n", ["One", "Two"]),
        (f"Title: One\n{MAP}\n\nTitle: Two\n{MAP}\n", ["One", "Two"]),
        (f"# 1\n\n{MAP}\n\n# 2\n\n{MAP}", ["1", "2"]),
        (f"## Level one ##\n\n{MAP}", ["Level one"]),
        (f"{MAP}\n\n{MAP}", ["", ""]),
        (f"{MAP}\nOne\n\n{MAP}\nTwo\n\nThe end.\n", ["One", "Two"]),
        (f"One\n{MAP}\n\nTwo\n{MAP}\n\nThe end.\n", ["One", "Two"]),
        (f"; 1\n\n{MAP}\n\n; 2\n\n{MAP}\n\n; The end.\n\x1a", ["1", "2"]),
        (f"; 1\r\n\r\n{MAP}\r\n\x1a", ["1"]),
        (f"{MAP}\nSolution\nRRll\n\n{MAP}\nDate: 2001\nlurdLURD\n2l3(ur)R\nTitle: Two\n", ["", "Two"]),
    ],
)
def test_titles_stand_before_or_behind(text: str, titles: list[str]) -> None:
    read = read_levels(text)
    assert [level.title for level in read] == titles
    assert {level.rows for level in read} == {SMALL}


def test_fields_behind_a_map_and_a_comment_of_several_lines() -> None:
    first = f"Author: All\n\n{MAP}\nTitle: One\nAuthor: Me\nComment: a\nb\n # c\nComment-End:\n\n"
    text = f"{first}{MAP}\nTitle: Two\n"
    one, two = read_levels(text)
    assert (one.title, one.author, one.line) == ("One", "Me", 3)
    assert (two.title, two.author, two.line) == ("Two", "All", 13)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("####\n#@ #\n####", "1:1", "no box"),
        ("######\n# $. #\n######", "1:1", "no keeper"),
        ("######\n#@@$.#\n######", "2:3", "2 keepers"),
        ("; x\n\n#######\n#@$$. #\n#######", "4:3", "2 boxes and only 1 goal"),
        ("#####\n#@$.\n#####", "2:5", "open"),
        ("#######\n#@$.\n#    ##\n#######", "2:5", "open"),
        ("#####\n#@$.#", "2:2", "open"),
        ("#####\n#@$x#\n#####", "2:4", "'x' does not belong"),
        ("#####\n#@$x\n#####", "2:4", "'x' does not belong"),
        ("5#|#@$.#|5#3", "1:12", "nothing behind"),
        ("5#|#@(2$.#|5#", "1:6", "never closed"),
        ("5#|#@$2).#|5#", "1:8", "number before"),
        ("9999999#|#@$.#", "1:1", "too long"),
        ("3(999(999(999(#))))|#@$.#", "1:17", "too long"),
        ("400(#)|" * 2000, "1:5620", "too long"),
        ("400#|400#|400#|400#\n" * 10000, "2622:1", "4,194,304 squares"),
        ("(" * 21 + "##|#@$.#|##", "1:21", "too deeply"),
        ("401#|#@$.#|401#", "1:4", "401 columns"),
        ("#####\n#@$.#\n" + "#####\n" * 500, "401:1", "502 rows"),
        ("####\n#@##\n#$.#\n####\n", "2:2", "cannot move"),
        ("#######\n#@$.#$#\n#######", "2:6", "no keeper can come"),
        ("<SokobanLevels>", "1:16", "not XML"),
        ("<a>" * 70, "1:193", "too deep"),
        ("<Level>\n<L>#q</L></Level>", "2:5", "'q' does not belong"),
        ("<Level>\n <L>#####</L>\n <L>#@@.#</L>\n <L>#####</L>\n</Level>", "3:7", "2 keepers"),
    ],
)
def test_errors_say_line_and_column(text: str, place: str, words: str) -> None:
    with pytest.raises(GdlError) as caught:
        read_levels(text, "f.xsb")
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"f.xsb:{place}: ")
    assert caught.value.remedy


def test_entities_are_refused_where_they_are_declared() -> None:
    bomb = '<!DOCTYPE x [\n<!ENTITY a "aaaaaaaa">\n<!ENTITY b "&a;&a;&a;&a;">]>\n<Level><L>&b;</L></Level>'
    with pytest.raises(GdlError, match=r"^f.slc:2:\d+: the file declares the entity 'a'"):
        read_levels(bomb, "f.slc")
    outside = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><Level><L>&a;</L></Level>'
    with pytest.raises(GdlError, match="declares the entity"):
        read_levels(outside, "f.slc")


def test_what_the_keeper_cannot_come_to_is_no_part_of_the_level() -> None:
    (level,) = read_levels("*###*\n#@$.#\n*###*\n")
    assert level.inside == {(1, 1), (2, 1), (3, 1)}


def test_more_goals_than_boxes_are_fine() -> None:
    assert read_levels("######\n#@$..#\n######")[0].boxes == 1


def test_levels_of_a_file_are_named_by_number(tmp_path: Path) -> None:
    path = tmp_path / "two.xsb"
    path.write_text(f"{MAP}\n\n" + "\n".join(ROOM) + "\n\n####\n#@ #\n####\n")
    assert find_level(str(path)).rows == SMALL
    assert find_level(f"{path}:2").rows == ROOM
    assert split_name(f"{path}:2") == (path, 2)
    for bad in (0, 4, 99):
        with pytest.raises(GdlError, match=f"there is no level {bad}: the file has 3 levels"):
            find_level(f"{path}:{bad}")
    with pytest.raises(GdlError, match=r"two.xsb:11:1: the level has no box"):
        find_level(f"{path}:3")
    with pytest.raises(GdlError, match="cannot read"):
        find_level(str(tmp_path / "none.xsb"))
    with pytest.raises(GdlError, match="cannot read"):
        find_level(str(tmp_path))


def test_a_file_whose_name_ends_in_a_number_is_found(tmp_path: Path) -> None:
    path = tmp_path / "odd.xsb:7"
    path.write_text(MAP)
    assert find_level(str(path)).rows == SMALL


def test_level_files_are_known_by_their_names(tmp_path: Path) -> None:
    for name in ("a.xsb", "a.XSB:3", "b/c.slc:12", "d.sok"):
        assert names_level_file(name)
    for name in ("a.kif", "sokoban", "a.xsb.kif", "a.txt"):
        assert not names_level_file(name)
    (tmp_path / "map.txt").write_text(MAP)
    (tmp_path / "rules.txt").write_text("( role you) ; ####\n")
    assert names_level_file(f"{tmp_path}/map.txt:1")
    assert not names_level_file(f"{tmp_path}/rules.txt")


def test_old_files_are_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "old.xsb"
    path.write_bytes(f"{MAP}\nTitle: Caf\u00e9\n".encode("latin-1"))
    assert find_level(str(path)).title == "Caf\u00e9"
    path.write_bytes(f"{MAP}\nTitle: Caf\u00e9\n".encode("utf-8-sig"))
    assert find_level(str(path)).title == "Caf\u00e9"


def test_collections_that_people_use_are_read(levels: Path) -> None:
    read = levels_of_file(levels / "Microban_I.xsb")
    assert [level.title for level in read] == [str(n) for n in range(1, 156)]
    assert read[0].boxes == 2 and read[154].boxes == 11
    assert len(levels_of_file(levels / "XSokoban_01-45.xsb")) == 44
    boxoban = levels_of_file(levels / "Boxoban_hard_001-200.xsb")
    assert {(level.width, level.height, level.boxes) for level in boxoban} == {(10, 10, 4)}


def test_a_map_may_end_in_tips_of_a_single_wall() -> None:
    diamond = ["   #", "  #.#", " # $ #", "#  @  #", " #   #", "  # #", "   #"]
    [level, other] = read_levels("; 68\n\n" + "\n".join(diamond) + "\n\n; 69\n\n#####\n#@$.#\n#####\n")
    assert level.height == 7
    assert str(level).split("\n") == diamond
    assert other.boxes == 1


def test_titles_in_quotes_stay_titles() -> None:
    for title in ('Title: "#1 of 2"', '"#1 of 2"', '"## Level one ##"'):
        assert read_levels(f"{title}\n{MAP}\n")[0].title == read_levels(f"{title}\n\n{MAP}\n")[0].title != ""
