"""Servers for the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ggp.server.live import LiveServer


@pytest.fixture(autouse=True)
def _forks(forks: None) -> None:
    """Servers fork the processes of matches."""


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., LiveServer]]:
    """Starts servers, whose processes find the players of this folder."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    servers: list[LiveServer] = []

    def make(**config: object) -> LiveServer:
        servers.append(LiveServer(**config))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def server(serve: Callable[..., LiveServer]) -> LiveServer:
    """One that may play two matches."""
    return serve(matches=2)
