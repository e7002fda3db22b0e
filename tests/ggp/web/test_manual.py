"""The docs in the page: each page is there, and leads nowhere that is not."""

from __future__ import annotations

import tomllib
from html.parser import HTMLParser

import pytest

from ggp.web.manual import NAMES, docs_folder, html_of_page, title_of_page
from tests.ggp.web.clients import Client
from tests.places import ROOT


class Parts(HTMLParser):
    """The addresses and ids of a page, and the elements that it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.leads: set[str] = set()
        self.ids: set[str] = set()
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        found = dict(attrs)
        self.leads |= {found[name] or "" for name in ("href", "src") if name in found}
        self.ids |= {found["id"] or ""} if "id" in found else set()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_links_of_a_page_lead_to_pages_pictures_and_headings_that_are_there(name: str) -> None:
    page = Parts(html_of_page(name))
    assert title_of_page(name) not in ("", name)
    assert not page.tags & {"script", "style", "iframe", "svg", "form", "input", "button", "object", "embed"}
    assert "p" in page.tags
    for lead in page.leads:
        if lead.startswith(("https://", "http://")):
            continue
        path, _, part = lead.partition("#")
        if path.startswith("/docs/pictures/"):
            assert (docs_folder() / path.removeprefix("/docs/")).is_file(), lead
            continue
        there = path.removeprefix("/docs/") or name
        assert there in NAMES, lead
        assert not part or part in Parts(html_of_page(there)).ids, lead


def test_wheels_have_the_pages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    wanted = {"docs/pictures", *(f"docs/{name}.md" for name in NAMES)}
    assert {name for name in carried if name.startswith("docs/")} == wanted
    assert all(inside == f"ggp/{name}" for name, inside in carried.items())


async def test_pages_and_pictures_are_served_and_nothing_else(client: Client) -> None:
    listed = await (await client.get("/docs")).text()
    assert all(f"&quot;{name}&quot;" in listed for name in NAMES)
    shown = await (await client.get("/docs/tutorials/first-game")).text()
    assert title_of_page("tutorials/first-game") in shown
    assert (await client.get("/docs/pictures/play.png")).content_type == "image/png"
    for name in ("measurements", "web.md", "../README", "tutorials", "pictures", "%2e%2e/README"):
        assert (await client.get(f"/docs/{name}")).status in (403, 404), name
