"""Reports as one HTML page that loads nothing: data with our own script, or tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import orjson

from gdl.visible import visible
from ggp.boards.svg.markup import source_hash

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; } th { font-weight: 600; opacity: .65; }
.boards { display: flex; flex-wrap: wrap; gap: 1.5rem; } .boards th { text-align: center; }
.scroll { overflow-x: auto; } .bad { color: light-dark(#b3001b, #ff8a80); font-weight: 600; }
"""


_IMPORT = re.compile(r'^import .* from "/static/(.*)";$', re.MULTILINE)
_STATIC = Path(__file__).parent / "web" / "static"


def standalone(title: str, data: object, script: str, styles: Sequence[str], call: str) -> str:
    """A page that shows some data by a script, which has the modules that it imports in it.

    Args:
        title: the page's title and heading.
        data: the value of ``data`` in the script, ready for JSON.
        script, styles: files of ``ggp/web/static``; what the script and its imports export has one name each.
        call: the line of script that fills the element ``main``.
    """
    # In a script element only its end tag and a comment have a meaning for the HTML parser.
    content = orjson.dumps(data).decode().replace("<", "\\u003c")
    code = "".join(_with_imports(script, {}).values()) + (
        "\nconst main = document.querySelector('main');\n"
        f"const data = JSON.parse(document.getElementById('data').textContent);\n{call}\n"
    )
    style = "".join((_STATIC / name).read_text("utf-8") for name in styles)
    policy = f"default-src 'none'; script-src {source_hash(code)}; style-src {source_hash(style)}"
    name = escape(visible(title))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{name}</title><style>{style}</style></head><body><main><h1>{name}</h1></main>"
        f'<script type="application/json" id="data">{content}</script>'
        f'<script type="module">{code}</script></body></html>\n'
    )


def _with_imports(script: str, found: dict[str, str]) -> dict[str, str]:
    """The text of a module after those that it imports, which are added to ``found``."""
    text = (_STATIC / script).read_text("utf-8")
    for name in _IMPORT.findall(text):
        if name not in found:
            _with_imports(name, found)
    found[script] = _IMPORT.sub("", text).replace("\nexport ", "\n")
    return found


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as part of a page; the text of all cells is escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def page(title: str, parts: Iterable[str], refresh: int = 0) -> str:
    """The whole page below its title; it reloads itself every ``refresh`` seconds unless that is 0."""
    name = escape(title)
    again = f'<meta http-equiv="refresh" content="{refresh}">' if refresh else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>{again}'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>\n'
        + "\n".join((f"<h1>{name}</h1>", *parts))
        + "\n</body></html>\n"
    )
