"""The examples in docstrings do what they show."""

from __future__ import annotations

import doctest
import importlib
import re
from inspect import ismemberdescriptor
from pathlib import Path

import pytest

import ggp
from ggp.in_code import GamePlayer, PlayedMatch
from tests.places import ROOT, SOURCES, module_name

EXAMPLE = re.compile(r"^ *>>> ", re.MULTILINE)


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if EXAMPLE.search(path.read_text())],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_examples_give_what_they_show(path: Path) -> None:
    found = doctest.testmod(importlib.import_module(module_name(path)), optionflags=doctest.ELLIPSIS)
    assert found.attempted >= len(
        EXAMPLE.findall(path.read_text(encoding="utf-8"))
    )  # ggp.load is Game.load: twice
    assert not found.failed


@pytest.mark.parametrize("name", sorted({*ggp.__all__} - {"__version__"}))
def test_names_that_a_program_begins_with_have_an_example(name: str) -> None:
    shown = getattr(ggp, name)
    module = importlib.import_module(shown.__module__)
    lines = re.findall(
        r"^ *(?:>>>|\.\.\.) (.*)", Path(str(module.__file__)).read_text(encoding="utf-8"), re.MULTILINE
    )
    assert any(re.search(rf"\b{name}\b", line) for line in lines) or ">>>" in (shown.__doc__ or "")


@pytest.mark.parametrize("kind", [ggp.Game, ggp.State, GamePlayer, PlayedMatch])
def test_each_call_of_a_guest_is_in_an_example(kind: type) -> None:
    text = Path(str(importlib.import_module(kind.__module__).__file__)).read_text(encoding="utf-8")
    shown = "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) (.*)", text, re.MULTILINE))
    calls = [n for n, one in vars(kind).items() if not n.startswith("_") and not ismemberdescriptor(one)]
    assert [name for name in calls if not re.search(rf"\.{name}\b", shown)] == []
