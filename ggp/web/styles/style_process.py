"""The process that applies stylesheets (XSLT 1.0, by libxslt) to states, within limits.

A state becomes XML as the reference game manager renders it. A stylesheet reads no file but others of its
folder, writes none, and reaches no network; it may declare no entities. What images of its folder the drawing
shows are carried in it, so that it asks for nothing.

>>> state_xml("( (cell 1 1 b) (control xplayer) over )")
'<state><fact><relation>cell</relation><argument>1</argument><argument>1</argument><argument>b</argument></fact>\
<fact><relation>control</relation><argument>xplayer</argument></fact><fact>over</fact></state>'
"""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from gdl.errors import FileError, GdlError, MissingFileError
from gdl.reading import read_limited
from gdl.syntax.sexpr import Atom, Group, SExpr, read
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.web.styles.drawing import clean_drawing
from players.processes.limits import limit_files

if TYPE_CHECKING:
    from lxml import etree


def state_xml(facts: str) -> str:
    """The XML of a state, given as a run of propositions or one list of them, in their order and spelling.

    A function is its ``relation`` and its ``argument``s, a constant its name. Raises ParseError.
    """
    _, parts = read(facts, "state")
    match parts:
        case [Group([Group(), *_] as inner)]:  # as match records have it
            parts = inner
        case [Group([])]:
            parts = []
    return f"<state>{''.join(f'<fact>{_xml(part)}</fact>' for part in parts)}</state>"


def _xml(part: SExpr) -> str:
    match part:
        case Atom(word):
            return escape(word)
        case Group([head, *arguments]):
            inner = "".join(f"<argument>{_xml(argument)}</argument>" for argument in arguments)
            return f"<relation>{_xml(head)}</relation>{inner}"
    return ""


MEMORY = 1024**3
CPU_SECONDS = 120.0
LARGEST_SHEET = 2 * 1024 * 1024
LARGEST_DRAWING = 4 * 1024 * 1024
LARGEST_PAGE = 4 * LARGEST_DRAWING
"""With its images."""
LARGEST_IMAGE = 512 * 1024
MOST_DEPTH = 1500
SIZE = 560
"""Pixels that a stylesheet is told it has each way, as by the reference manager."""
ROOT = "urn:ggp:root"
"""What ``&ROOT;`` becomes: an address that leads nowhere."""
_DOCTYPE = re.compile(r'<!DOCTYPE\s+stylesheet\s*\[\s*<!ENTITY\s+ROOT\s+"[^"<&%]*"\s*>\s*\]\s*>')
_KINDS = {".png": "png", ".gif": "gif", ".jpg": "jpeg", ".jpeg": "jpeg", ".svg": "svg+xml", ".webp": "webp"}
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>state</title>'
    "<style>body {{ min-width: 600px; margin: 0; }}</style></head>"
    "<body>{}</body></html>"
)


class StyleFolder:
    """Applies the stylesheets of a folder."""

    def __init__(self, folder: Path) -> None:
        self._root = folder.resolve()
        self._sheets: dict[str, Any] = {}

    def apply(self, name: str, facts: str) -> str:
        """What a stylesheet, a path below the folder, makes of a state: HTML. Images are named by
        :data:`ROOT`. Raises GdlError: the one or the other cannot be read, or the stylesheet fails."""
        from lxml import etree

        sheet = self._sheets.get(name)
        try:
            if sheet is None:
                sheet = self._sheets[name] = self._read(name)
            state = etree.fromstring(state_xml(facts), _parser())
            result = sheet(state, width=str(SIZE), height=str(SIZE))
            text = (
                etree.tostring(result, method="html", encoding="unicode")
                if result.getroot() is not None
                else ""
            )
        except (etree.LxmlError, OSError, UnicodeError) as error:
            raise GdlError(f"the stylesheet {name} fails: {' '.join(str(error).split())[:300]}") from None
        text = text or str(result)
        if len(text) > LARGEST_DRAWING:
            raise GdlError(f"the stylesheet {name} makes more than {LARGEST_DRAWING:,} characters")
        return str(text)

    def page(self, name: str, facts: str) -> str:
        """The same as a page of its own that carries its images. Elements, attributes, properties and
        addresses that are not known to be harmless are left out (:mod:`ggp.web.styles.drawing`)."""
        sheet = self._inside(name)
        size = 0

        def carried(address: str) -> str | None:
            nonlocal size
            if not address.startswith(ROOT):
                return None
            image = self._image(sheet, address.removeprefix(ROOT).lstrip("/"))
            size += len(image)
            return image if size <= LARGEST_DRAWING else "data:,"

        drawing = clean_drawing(self.apply(name, facts), carried)
        if len(drawing) > LARGEST_PAGE:
            raise GdlError(f"the stylesheet {name} makes more than {LARGEST_PAGE:,} characters")
        return _PAGE.format(drawing)

    def _read(self, name: str) -> Any:
        from lxml import etree

        path = self._inside(name)
        text = self._text(path, name)
        parser = _parser()
        parser.resolvers.add(_inner_files(self))
        tree = etree.fromstring(text.encode(), parser, base_url=str(path))
        etree.XSLT.set_global_max_depth(MOST_DEPTH)
        return etree.XSLT(tree, access_control=etree.XSLTAccessControl.DENY_ALL)

    def _inside(self, name: str) -> Path:
        """A file below the folder. Raises GdlError for any other."""
        try:
            path = (self._root / name).resolve()
            if path.is_relative_to(self._root) and path.is_file():
                return path
        except (OSError, ValueError, RuntimeError):
            pass
        raise GdlError(f"there is no file {name!r} in the folder of stylesheets")

    def inner(self, url: str) -> str:
        """What a stylesheet imports: the text of a file below the folder. Raises GdlError."""
        name = url.removeprefix("file://").removeprefix(str(self._root)).removeprefix(ROOT).lstrip("/")
        return self._text(self._inside(name), name)

    def _text(self, path: Path, name: str) -> str:
        """The text of a stylesheet. Raises GdlError, which does not say where the folder is."""
        try:
            data = read_limited(path, LARGEST_SHEET)
        except FileError:
            raise GdlError(
                f"the stylesheet {name} cannot be read, or is longer than {LARGEST_SHEET:,} bytes"
            ) from None
        return _prepared(data.decode("utf-8-sig", errors="replace"), name)

    def _image(self, sheet: Path, name: str) -> str:
        """A ``data:`` address of an image of the folder, nearest to the stylesheet; else an empty one."""
        kind = _KINDS.get(Path(name).suffix.lower())
        for holder in sheet.parents:
            if kind is None or not holder.is_relative_to(self._root):
                break
            try:
                path = (holder / name).resolve()
                if path.is_relative_to(self._root):
                    data = base64.b64encode(read_limited(path, LARGEST_IMAGE)).decode()
                    return f"data:image/{kind};base64,{data}"
            except (MissingFileError, NotADirectoryError):
                continue
            except (FileError, OSError, ValueError):
                break
        return "data:,"


def _prepared(text: str, name: str) -> str:
    """The text with ``&ROOT;`` replaced. Raises GdlError where it declares anything else."""
    text = _DOCTYPE.sub("", text, count=1).replace("&ROOT;", ROOT).strip()
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text):
        raise GdlError(f"the stylesheet {name} declares a document type", remedy="only ROOT may be declared")
    return re.sub(r"^<\?xml[^>]*\?>", "", text)


def _parser() -> etree.XMLParser:
    from lxml import etree

    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


def _inner_files(folder: StyleFolder) -> etree.Resolver:
    from lxml import etree

    class Inner(etree.Resolver):  # type: ignore[misc]
        def resolve(self, url: str, public_id: str, context: Any) -> Any:
            return self.resolve_string(folder.inner(url), context, base_url=url)

    return Inner()


def main() -> None:
    """Apply stylesheets of the folder that is the first argument, until the other end is gone."""
    folder = StyleFolder(Path(sys.argv[1]))
    limit_files(0)

    def answer(request: JsonMessage, send: Send) -> dict[str, object]:
        return {"page": folder.page(request["sheet"], request["facts"])}

    answer_requests(answer, "stylesheet", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
