"""ggp web takes malformed rules, states and stylesheets, and nothing of other sites' pages."""

from __future__ import annotations

import pytest

from bench.hostile_web import run

pytest.importorskip("lxml", reason="lxml is not installed: extra styles")


def test_what_is_malformed_is_told_and_the_server_goes_on() -> None:
    assert run(60, 2) == 0
