"""Readers of files refuses what is odd on one line, take all line ends, and go on past a bad item."""

from __future__ import annotations

import codecs
import gzip
import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from gdl.errors import FileError, GdlError, Place, RulesError, sound
from ggp import rule_files as games
from ggp import traces
from ggp.answers import catalogue
from ggp.bench import read_results
from ggp.cli import build
from ggp.commands import read_or_complain
from ggp.cover.instance import PackingInstance, PlainInstance, load_instance
from ggp.cover.solve import SaveFile
from ggp.game import Game
from ggp.match_process import player_thread
from ggp.printing import complain
from ggp.protocol.dialect import decoded
from ggp.protocol.messages import Start, parse_message, spaced
from ggp.rule_files import read_rules_file
from ggp.traces import find_traces, read_trace
from ggp.web.choice.card_process import read_upload
from ggp.web.replay import replay_process
from ggp.web.replay.recorded import read_match, records_in
from ggp.web.replay.replay_process import RecordSource, card_of
from ggp.web.replay.routes import Shelf
from players.knowledge.store import KnowledgeStore, read_file
from players.puzzles.snakes.level import levels_in as snakes_in
from players.puzzles.snakes.level import levels_of_file as snakes
from players.puzzles.snakes.level import levels_of_file as snakes_of_file
from players.puzzles.sokoban.levels.gdl import level_of_gdl
from players.puzzles.sokoban.levels.read import find_level, levels_in, levels_of_file
from players.puzzles.sokoban.levels.read import levels_of_file as sokoban
from players.sorted_sets.files import read_manifest
from players.strong.storage import MANIFEST
from players.strong.tables import Tables
from propnet.storage.file_store import FileStore
from tests.examples import examples
from tests.gdl.test_reading import ODD
from tests.places import GAME_FILES, GAMES

READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "rules": ("x.kif", Game.load),
    "rules again": ("x.kif", read_rules_file),
    "levels of Sokoban": ("x.xsb", Game.load),
    "levels of Snakes": ("x.txt", lambda path: snakes(path)),
    "levels, all": ("x.sok", lambda path: sokoban(path)),
    "a cover problem": ("x.json", load_instance),
    "a saved search": ("x", lambda path: SaveFile(path).load()),
    "solutions beside it": ("x", lambda path: _solutions(path)),
    "a trace": ("x.jsonl", lambda path: list(read_trace(path))),
    "a packed trace": ("x.jsonl.gz", lambda path: list(read_trace(path))),
    "measurements": ("x.json", read_results),
    "knowledge": ("x", read_file),
    "knowledge in a folder": ("f" * 64, lambda path: KnowledgeStore(path.parent).read(path.name)),
    "a table": (MANIFEST, lambda path: Tables.open(path.parent)),
    "a checkpoint": ("manifest.json", lambda path: read_manifest(path.parent)),
    "a record": ("x.json", lambda path: _record(path)),
}


def _record(path: Path) -> None:
    found = Shelf(path.parent).find({"file": path.name})
    replay_process.READERS[found.kind](found.path, 1)


def _solutions(path: Path) -> None:
    file = SaveFile(path.with_name("save"))
    path.rename(path.with_name("save.solutions"))
    file.lines = 1
    list(file.solutions(1))


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("make", ODD)
def test_no_reader_follows_an_odd_file(reader: str, make: Callable[[Path], None], tmp_path: Path) -> None:
    name, read = READERS[reader]
    make(tmp_path / name)
    with pytest.raises(GdlError) as caught:
        read(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", ODD)
def test_commands_complain_on_one_line(
    make: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.kif"
    make(path)
    assert read_or_complain(path) is None
    complain(RulesError("wrong", Place(1, 1), source=str(path)))
    assert len(capsys.readouterr().err.splitlines()) == 2


@pytest.mark.parametrize("make", ODD)
def test_a_cache_forgets_what_is_odd(make: Callable[[Path], None], tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    make(tmp_path / "x")
    assert FileStore(tmp_path, 1 << 20).get("x") is None


def test_traces_unpack_to_no_more_than_they_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "MOST_OF_LINE", 1000)
    monkeypatch.setattr(traces, "MOST_BYTES", 5000)
    bomb, long = tmp_path / "bomb.jsonl.gz", tmp_path / "long.jsonl.gz"
    bomb.write_bytes(gzip.compress(b'{"type": "x"}\n' * 1000))
    long.write_bytes(gzip.compress(b" " * 2000))
    for path in (bomb, long):
        with pytest.raises(FileError, match="is larger than"):
            list(read_trace(path))
    damaged = tmp_path / "damaged.jsonl.gz"
    damaged.write_bytes(bomb.read_bytes()[:20] + b"\xff" * 20)
    with pytest.raises(GdlError, match="cannot read the trace"):
        list(read_trace(damaged))


@pytest.mark.parametrize(
    "reader", [name for name in READERS if name not in ("a record", "solutions beside it")]
)
@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000])
def test_names_that_are_too_long_are_told(reader: str, name: str, tmp_path: Path) -> None:
    ending, read = READERS[reader]
    with pytest.raises(GdlError) as caught:
        read(tmp_path / f"{name}{ending}")
    assert "\n" not in str(caught.value)


def test_a_folder_of_odd_traces_is_told(tmp_path: Path) -> None:
    for number, make in enumerate(ODD):
        make(tmp_path / f"{number}.jsonl")
        (tmp_path / f"{number}.kif").write_text("(role r) (legal r m) (<= terminal (true x))")
    for trace in find_traces([tmp_path]):
        assert "cannot read" in (traces.verify_file(trace, "prover").fault or "")


# --- Every reader takes all line ends, byte order marks and UTF-16, and names the same place for a fault
TWO_LEVELS = "; one\n#####\n#@$.#\n#####\n\nTitle: two\n######\n#@ $.#\n######\n"
SLC = (
    '<?xml version="1.0" encoding="ISO-8859-1"?>\n<SokobanLevels><LevelCollection>\n'
    '<Level Id="caf\u00e9">\n<L>#####</L>\n<L>#@$.#</L>\n<L>#####</L>\n</Level>\n'
    "</LevelCollection></SokobanLevels>\n"
)
BURR = (
    '<?xml version="1.0"?>\n<puzzle version="2"><gridType type="0"/><colors/>\n<shapes>\n'
    '<voxel x="1" y="1" z="1" type="0">#</voxel>\n</shapes>\n<problems><problem state="0" name="caf\u00e9">\n'
    '<shapes><shape id="0" count="1"/></shapes><result id="0"/><bitmap/></problem></problems>\n'
    "<comment>one\ntwo</comment></puzzle>\n"
)
TRACE = (
    '{"type":"game","game":"\u2028"}\n{"type":"step","p":0,"s":0,"state":[],"joint":null}\n{"type":"end"}\n'
)


def _records(path: Path) -> object:
    return replay_process.READERS["record"](path, 0).records


def _cover(path: Path) -> object:
    found = load_instance(path)
    if isinstance(found, PackingInstance):
        return found.name, found.puzzle.pieces[0].shape.cells.tolist()
    assert isinstance(found, PlainInstance)
    return found.problem.item_names, found.problem.nodes.tolist()


TEXT_READERS: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "rules": ("x.kif", "(role a) ; a\u2028b\n(init p)\n", lambda path: Game.load(path).text),
    "levels": ("x.xsb", TWO_LEVELS, levels_of_file),
    "levels in XML": ("x.slc", SLC, levels_of_file),
    "snakes": ("x.txt", ";one\n>A.E\n####\n\n;two\n>A..E\n", snakes_of_file),
    "DLX": ("x.dlx", "| caf\u00e9\na b\na\nb\n", _cover),
    "JSON": ("x.json", '{"items": ["a"],\n "options": [["a"]]}\n', _cover),
    "a packing": ("x.packing", "packing\n; caf\u00e9\npiece a\n##\nresult 2 x 1\n", _cover),
    "a file of BurrTools": ("x.xmpuzzle", BURR, _cover),
    "a record": ("x.json", '[{"matchId": "caf\u00e9"},\n{}]\n', _records),
    "a trace as record": ("x.jsonl", TRACE, _records),
    "measurements": ("x.jsonl", '{"about": {}}\n{"game": "a", "machine": "b"}\n', read_results),
    "what a page brings": ("x.xsb", TWO_LEVELS, lambda path: read_upload("x.xsb", path.read_bytes())),
}
FORMS: dict[str, Callable[[str], bytes]] = {
    "CR LF": lambda text: text.replace("\n", "\r\n").encode(),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 and CR": lambda text: codecs.BOM_UTF16_BE + text.replace("\n", "\r").encode("utf-16-be"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reader", TEXT_READERS)
def test_all_readers_read_all_forms_of_a_text_alike(reader: str, form: str, tmp_path: Path) -> None:
    name, text, read = TEXT_READERS[reader]
    path = tmp_path / name
    path.write_bytes(text.encode())
    expected = read(path)
    path.write_bytes(FORMS[form](text))
    assert read(path) == expected


@pytest.mark.parametrize("form", ["CR LF", "CR", "a mark"])
def test_traces_are_streams_of_lines(form: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(FORMS[form](TRACE))
    assert [one["type"] for one in read_trace(path)] == ["game", "step", "end"]


WRONG: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
    "rules": ("x.kif", "(role a) ; \f\n(init (p)\n", Game.load),
    "levels": ("x.xsb", "; \f \u2028\n#####\n#@$.#\n#?  #\n#####\n", lambda p: sound(*levels_of_file(p))),
    "levels in XML": ("x.slc", SLC.replace("@", "?"), lambda p: sound(*levels_of_file(p))),
    "snakes": ("x.txt", ";\u2028\n>A.E\n?>AE\n", lambda p: sound(*snakes_of_file(p))),
    "DLX": ("x.dlx", "| \x1c\na b\na\nb c\n", _cover),
    "a packing": ("x.packing", "packing\n;\x85\npiece a\n##\nresult ?\n", _cover),
    "a file of BurrTools": ("x.xmpuzzle", BURR.replace('count="1"', 'count="x"'), _cover),
}


@pytest.mark.parametrize("reader", WRONG)
def test_all_readers_count_lines_alike(reader: str, tmp_path: Path) -> None:
    name, text, read = WRONG[reader]
    path = tmp_path / name
    found = []
    for data in (text.encode(), *(make(text) for make in FORMS.values())):
        path.write_bytes(data)
        with pytest.raises(GdlError) as caught:
            read(path)
        found.append(str(caught.value))
    assert len(set(found)) == 1
    place = caught.value.place
    assert place is not None and place.line == max(2, place.line)


@pytest.mark.parametrize("form", [form for form in FORMS if "UTF-16" not in form])
def test_messages_are_read_alike(form: str) -> None:
    text = "( START m a ((role a) ; one\n(init p) ; two\n) 10 10)"
    message = parse_message(decoded(FORMS[form](text)))
    assert isinstance(message, Start)
    assert spaced(message.rules) == "( role a ) ( init p )"
    assert parse_message("\ufeff" + text.replace("\n", "\r")) == message


def test_rules_given_as_text_are_sent_without_their_line_ends() -> None:
    game = Game("x", "(role a) ; one\r(init p)\r; two\r\n(init q)")
    assert spaced(game.kif) == "( role a ) ( init p ) ( init q )"


# --- A bad item of a collection gets its line, with its place, and costs no other
GOOD = ["#####\n#@$.#\n#####\n", "######\n#@ $.#\n######\n"]
BAD = ["#####\n#@$?#\n#####\n", "#####\n#@@.#\n#####\n", "5#|#@(2$.#|5#\n", "####\n#@ #\n####\n"]
RECORD = {"matchId": "m", "states": ["( ( p 1 ) )", "( ( p 2 ) )"], "moves": [["a"]], "goalValues": [7]}


def _slc(drawn: str, number: int) -> str:
    rows = "".join(f"<L>{row}</L>" for row in drawn.splitlines())
    return f'<Level Id="{number}">{rows}</Level>\n'


@examples(60)
@given(st.lists(st.sampled_from([*GOOD, *BAD]), min_size=1, max_size=8), st.booleans())
def test_each_level_is_what_it_is_alone(drawn: list[str], xml: bool) -> None:
    texts = [_slc(one, number) if xml else f"; {number}\n\n{one}\n" for number, one in enumerate(drawn)]
    text = "".join(texts)
    found = levels_in(f"<SokobanLevels>\n{text}</SokobanLevels>" if xml else text, "x")
    assert len(found) == len(drawn)
    for one, level in zip(drawn, found, strict=True):
        assert isinstance(level, GdlError) == (one in BAD)
        if isinstance(level, GdlError):
            assert str(level).startswith("x:") and level.remedy
        else:
            assert level.rows == tuple(one.splitlines())
            assert level.title == str(drawn.index(one)) or drawn.count(one) > 1


@examples(60)
@given(st.lists(st.sampled_from([">A.E\n####\n", ">A..E\n", ">A\n", "?>AE\n", ">AE\n; late\n"]), min_size=1))
def test_each_level_of_snakes_is_what_it_is_alone(drawn: list[str]) -> None:
    found = snakes_in("\n".join(f"; {number}\n{one}" for number, one in enumerate(drawn)))
    for number, (one, level) in enumerate(zip(drawn, found, strict=True)):
        assert isinstance(level, GdlError) == (one not in (">A.E\n####\n", ">A..E\n"))
        assert isinstance(level, GdlError) or level.title == str(number)


def test_a_collection_that_breaks_off_has_the_levels_before() -> None:
    text = "<SokobanLevels>\n" + _slc(GOOD[0], 1) + _slc(GOOD[1], 2)
    one, two, rest = levels_in(text)
    assert not isinstance(one, GdlError) and not isinstance(two, GdlError)
    assert isinstance(rest, GdlError) and "not XML" in rest.message
    _, broken = levels_in(text[:-20])
    assert isinstance(broken, GdlError)


def test_many_bad_levels_that_are_long_to_try_do_not_take_for_ever() -> None:
    found = levels_in("399(399#)?\n\n" * 100_000)
    assert len(found) < 100
    assert isinstance(found[-1], GdlError) and "more than 4,194,304 squares" in found[-1].message


@pytest.mark.parametrize(
    "heading", ["Solution", "Solution:", "; solution", "Solution/Moves: 3", "Snapshot 1"]
)
@pytest.mark.parametrize("blank", ["", "\n"])
def test_steps_of_a_solution_are_no_title(heading: str, blank: str) -> None:
    text = f"{GOOD[1]}\n{heading}\n{blank}rRR\nrr\n\n{GOOD[1]}"
    assert [getattr(level, "title", None) for level in levels_in(text)] == ["", ""]
    text = f"{GOOD[1]}\n{heading} (3 moves)\n\n12\n\n{GOOD[1]}\nSolution found late\n"
    assert "12" in [getattr(level, "title", None) for level in levels_in(text)]


@pytest.fixture
def three_levels(tmp_path: Path) -> Path:
    path = tmp_path / "three.xsb"
    path.write_text("\n".join([GOOD[0], BAD[0], GOOD[1]]))
    return path


@pytest.mark.parametrize("workers", ["1", "2"])
def test_all_other_levels_are_solved(three_levels: Path, workers: str) -> None:
    more = ["--all", "--seconds", "60", "--workers", workers]
    done = CliRunner().invoke(build("solve"), ["solve", str(three_levels), *more, "--json"])
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.exit_code == 1
    assert [(one["level"], one["outcome"]) for one in told] == [(1, "solved"), (2, "error"), (3, "solved")]
    assert told[1]["error"].startswith(f"{three_levels}:6:4: ")
    with pytest.raises(GdlError, match="6:4"):
        find_level(f"{three_levels}:2")
    assert level_of_gdl(Game.load(f"{three_levels}:3").text) is not None


def test_a_page_gets_the_good_levels_and_a_line_for_each_bad_one() -> None:
    told = read_upload("mine.xsb", "\n".join([GOOD[0], BAD[0], BAD[1], GOOD[1]]).encode())
    assert [card["title"] for card in told["cards"]] == ["mine 1", "mine 4"]
    assert [fault.partition(":")[0] for fault in told["faults"]] == ["line 6, column 4", "line 10, column 3"]
    with pytest.raises(GdlError, match="line 2, column 4"):
        read_upload("mine.xsb", "\n".join(BAD).encode())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of games of which some cannot be read."""
    for name in ("tictactoe", "hanoi"):
        shutil.copy(GAME_FILES[name], tmp_path)
        (tmp_path / "playthroughs").mkdir(exist_ok=True)
        shutil.copy(GAMES / "playthroughs" / f"{name}.jsonl", tmp_path / "playthroughs")
    (tmp_path / "broken.kif").write_text("(role a)\n(role b)\n(init")
    (tmp_path / "bytes.kif").write_bytes(b"\0\1\2")
    (tmp_path / "levels").mkdir()
    (tmp_path / "levels" / "a.xsb").write_text("nothing")
    (tmp_path / "levels" / "b.xsb").write_text("\n".join([BAD[0], GOOD[0]]))
    (tmp_path / "puzzles").mkdir()
    for module in (games, catalogue):
        monkeypatch.setattr(module, "games_folder", lambda: tmp_path)
    return tmp_path


def test_games_are_listed_past_broken_ones(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    done = CliRunner().invoke(build("games"), ["games", "--json"])
    assert [json.loads(line)["game"] for line in done.stdout.splitlines()] == ["hanoi", "tictactoe"]
    assert done.exit_code == 1
    assert "broken.kif:3:1" in done.stderr and "bytes.kif:1:1" in done.stderr
    with caplog.at_level(logging.WARNING):
        cards = catalogue.known_cards()
    assert {card["name"] for card in cards} == {"hanoi", "tictactoe", "b.xsb:2"}
    assert {"broken.kif", "bytes.kif", "a.xsb", "b.xsb:1"} <= {line.split()[0] for line in caplog.messages}


def test_games_are_known_by_their_rules_past_broken_ones(folder: Path) -> None:
    player_thread.by_length.cache_clear()
    try:
        assert player_thread.name_of(Game.load(folder / "hanoi.kif").rules) == "hanoi"
    finally:
        player_thread.by_length.cache_clear()


def test_records_are_shown_past_broken_ones() -> None:
    records = records_in(json.dumps([RECORD, 7, {**RECORD, "matchId": "n"}, {"matchId": "o"}]))
    assert [read_match(records[number]).name for number in (0, 2)] == ["m", "n"]
    for number in (1, 3):
        with pytest.raises(GdlError, match="no matchId and states"):
            read_match(records[number])
    card = card_of(RecordSource(records), 0)
    assert (card["name"], card["matches"]) == ("n", 4)


def test_playouts_of_a_trace_are_shown_past_broken_lines() -> None:
    def step(playout: int, number: int, **more: Any) -> str:
        line = {"type": "step", "p": playout, "s": number, "state": ["p"], "joint": ["a"], "terminal": False}
        return json.dumps({**line, **more})

    lines = ['{"type": "game", "game": "g"}', step(0, 0), '{"type": "st', step(0, 2), step(1, 0, state=7)]
    records = records_in("\n".join([*lines, step(2, 0), step(2, 1)]))
    assert [len(read_match(record).states) for record in records] == [1, 2]
