r"""Lines of level files, program listings and web pages with levels.

A program has rows in quotes, followed by commas or ``\n``; a page has them in ``<pre>``. Each resulting line
records the places of its characters in the file.

>>> [line.text for line in lines_of('map = ["#####",\n       "#@$.#",\n       "#####"]')]
['#####', '#@$.#', '#####']
>>> [line.text for line in lines_of("<h1>One</h1><pre>####<br>&#35;@ #</pre>")]
['One', '', '####', '#@ #', '']
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from gdl.errors import Place
from gdl.reading import plain

_LEAD = re.compile(r"[\w\s=:\[({.,+<>-]{0,200}?[\"'`]{1,3}(?=[\s_\-0-9(|]*#)")
"""The text that a program has before a row: a name, brackets, quotation marks."""
_TAIL = re.compile(r"[\\\"'`,;](?:\\?[nr]|[\\\"'`,;+)\]}\s])*(?://.*)?")
"""The text that a program has after a row."""
_BREAK = "\\n"
_PAGE = re.compile(r"<pre\b", re.IGNORECASE)
_COLLECTION = re.compile(r"<SokobanLevels\b|<LevelCollection\b", re.IGNORECASE)
_MARKUP = re.compile(r"<!--|<([/!?]?[a-zA-Z]\w{0,20})[^<>]{0,2000}>|&#?\w{1,10};|\n")


@dataclass(slots=True)
class FileLine:
    """A line of text.

    Attributes:
        text: its characters.
        number: the number of the line in the file, from 1.
        columns: for each character its column in the file; None if they are simply counted from 1.
    """

    text: str
    number: int
    columns: list[int] | None = None

    def place(self, column: int) -> Place:
        """Return the place in the file of a column of this line, from 1."""
        if self.columns is not None:
            last = self.columns[-1] if self.columns else 0
            column = self.columns[column - 1] if column <= len(self.columns) else last + 1
        return Place(self.number, column)

    def part(self, start: int, end: int) -> FileLine:
        """Return a part of the line."""
        columns = list(range(1, len(self.text) + 1)) if self.columns is None else self.columns
        return FileLine(self.text[start:end], self.number, columns[start:end])


def is_page(text: str) -> bool:
    """Return whether this is a page with maps in ``<pre>``, and not a collection in XML."""
    return _PAGE.search(text) is not None and _COLLECTION.search(text) is None


def lines_of(text: str) -> list[FileLine]:
    """Return the lines of a text, with rows freed from the syntax of programs and pages."""
    text = plain(text).rstrip("\x1a").replace("\xa0", " ")
    if is_page(text):
        lines = _lines_of_page(text)
    else:
        lines = [FileLine(line, number) for number, line in enumerate(text.split("\n"), 1)]
    return [row for line in lines for row in _rows_of_program(line)]


def _rows_of_program(line: FileLine) -> list[FileLine]:
    """Return the rows in a line of a program, or the line unchanged."""
    if "#" not in line.text:
        return [line]
    lead = _LEAD.match(line.text)
    start = lead.end() if lead else 0
    rows: list[FileLine] = []
    while start <= len(line.text):
        end = line.text.find(_BREAK, start)
        end = len(line.text) if end < 0 else end
        rows.append(_without_tail(line.part(start, end)))
        start = end + len(_BREAK)
    if not rows[-1].text.strip(" \"'`,;+)]}\\"):
        del rows[-1]  # a break at the end of the last row
    changed = "".join(row.text for row in rows) != line.text
    return rows if changed and all(map(_may_be_row, rows)) else [line]


def _without_tail(row: FileLine) -> FileLine:
    behind = row.text.rfind("#") + 1
    tail = _TAIL.search(row.text, behind)
    return row.part(0, tail.start()) if tail and tail.end() == len(row.text) else row


def _may_be_row(row: FileLine) -> bool:
    text = row.text.strip()
    return not text or text == "#" or text.count("#") > 1 or bool(re.search(r"\d#", text))


def _lines_of_page(text: str) -> list[FileLine]:
    """Return the lines of a page without its markup; outside ``<pre>`` blanks at the ends of lines do not
    count."""
    lines: list[FileLine] = []
    chars: list[str] = []
    columns: list[int] = []
    number, begun, at, inside, is_break = 1, 0, 0, False, False

    def end_line() -> None:
        words = "".join(chars)
        if inside or words.strip():
            lines.append(
                FileLine(words, number, list(columns)) if inside else FileLine(words.strip(), number)
            )
        chars.clear()
        columns.clear()

    def add(piece: str, start: int) -> None:
        chars.extend(piece)
        columns.extend(range(start - begun + 1, start - begun + 1 + len(piece)))

    while at < len(text):
        found = _MARKUP.search(text, at)
        add(text[at : found.start() if found else len(text)], at)
        if found is None:
            break
        at = found.end()
        tag = (found[1] or "").lower()
        broken, is_break = is_break and not chars, tag == "br"  # the end of a line behind <br> is part of it
        if found[0] == "\n":
            if not broken:
                end_line()
            number, begun = number + 1, at
        elif found[0] == "<!--":
            ending = text.find("-->", at)
            passed = text[at : ending if ending >= 0 else len(text)]
            at += len(passed) + 3
            if "\n" in passed:
                end_line()
                number += passed.count("\n")
                begun = at - 3 - len(passed) + passed.rfind("\n") + 1
        elif found[0][0] == "&":
            add(html.unescape(found[0])[:1].replace("\xa0", " "), found.start())
        elif tag in ("pre", "/pre"):
            end_line()
            inside = tag == "pre"
            if lines and lines[-1].text:
                lines.append(FileLine("", number))
        elif tag in ("br", "p", "/p", "div", "/div", "li", "/li", "tr") or tag[:-1] in ("h", "/h"):
            end_line()
    end_line()
    return lines
