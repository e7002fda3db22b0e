"""The list of tools names each of them, by a command line that works."""

from __future__ import annotations

import importlib.util
import re

from tests.places import ROOT

BENCH = ROOT / "bench"


def scripts() -> set[str]:
    """The modules that are run, by name; a folder's ``__main__`` by the folder's."""
    names = set()
    for path in BENCH.rglob("*.py"):
        if path.name == "__main__.py" or 'if __name__ == "__main__"' in path.read_text():
            module = path.parent if path.name == "__main__.py" else path.with_suffix("")
            names.add(".".join(module.relative_to(BENCH.parent).parts))
    return names


def test_every_script_is_listed_and_every_listed_one_is_there() -> None:
    text = (BENCH / "README.md").read_text()
    listed = set(re.findall(r"python -m (bench[\w.]*)", text))
    assert listed == scripts()
    assert all(importlib.util.find_spec(name) for name in listed)
    assert len(text.splitlines()) <= 40
