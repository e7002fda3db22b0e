"""Every reader takes all line ends, byte order marks and UTF-16, and names the same place for a fault."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import GdlError, sound
from ggp.bench import read_results
from ggp.cover.instance import PackingInstance, PlainInstance, load_instance
from ggp.game import Game
from ggp.protocol.dialect import decoded
from ggp.protocol.messages import Start, parse_message, spaced
from ggp.traces import read_trace
from ggp.web.choice.card_process import read_upload
from ggp.web.replay import replay_process
from players.puzzles.snakes.level import levels_of_file as snakes_of_file
from players.puzzles.sokoban.levels.read import levels_of_file

LEVELS = "; one\n#####\n#@$.#\n#####\n\nTitle: two\n######\n#@ $.#\n######\n"
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


READERS: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "rules": ("x.kif", "(role a) ; a\u2028b\n(init p)\n", lambda path: Game.load(path).text),
    "levels": ("x.xsb", LEVELS, levels_of_file),
    "levels in XML": ("x.slc", SLC, levels_of_file),
    "snakes": ("x.txt", ";one\n>A.E\n####\n\n;two\n>A..E\n", snakes_of_file),
    "DLX": ("x.dlx", "| caf\u00e9\na b\na\nb\n", _cover),
    "JSON": ("x.json", '{"items": ["a"],\n "options": [["a"]]}\n', _cover),
    "a packing": ("x.packing", "packing\n; caf\u00e9\npiece a\n##\nresult 2 x 1\n", _cover),
    "a file of BurrTools": ("x.xmpuzzle", BURR, _cover),
    "a record": (
        "x.json",
        '[{"matchId": "caf\u00e9"},\n{}]\n',
        _records,
    ),
    "a trace as record": ("x.jsonl", TRACE, _records),
    "measurements": ("x.jsonl", '{"about": {}}\n{"game": "a", "machine": "b"}\n', read_results),
    "what a page brings": ("x.xsb", LEVELS, lambda path: read_upload("x.xsb", path.read_bytes())),
}
FORMS: dict[str, Callable[[str], bytes]] = {
    "CR LF": lambda text: text.replace("\n", "\r\n").encode(),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 and CR": lambda text: codecs.BOM_UTF16_BE + text.replace("\n", "\r").encode("utf-16-be"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reader", READERS)
def test_all_readers_read_all_forms_of_a_text_alike(reader: str, form: str, tmp_path: Path) -> None:
    name, text, read = READERS[reader]
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
