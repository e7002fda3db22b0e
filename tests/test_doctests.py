"""The examples in docstrings do what they show."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from tests.places import ROOT, SOURCES, module_name

EXAMPLE = re.compile(r"^ *>>> ", re.MULTILINE)


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if EXAMPLE.search(path.read_text())],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_examples_give_what_they_show(path: Path) -> None:
    found = doctest.testmod(importlib.import_module(module_name(path)), optionflags=doctest.ELLIPSIS)
    assert found.attempted == len(EXAMPLE.findall(path.read_text()))
    assert not found.failed
