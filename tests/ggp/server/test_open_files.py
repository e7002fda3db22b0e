"""Matches are played however few files may be open; where these are too few, one line says so."""

from __future__ import annotations

import asyncio
import errno
import re
import resource
import socket
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.protocol.dialect import request_bytes
from ggp.server.open_files import OWN, PER_MATCH, fit, quiet_about_files
from ggp.server.settings import ServerConfig
from tests.ggp.server.live import START, ServeProcess, body_of, talk
from tests.places import ROOT

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux' limits and processes")


@given(limit=st.integers(1, 5000), matches=st.integers(1, 64))
def test_what_is_taken_is_within_the_limit(limit: int, matches: int) -> None:
    config = ServerConfig(matches=matches)
    try:
        fitted = fit(config, limit)
    except GdlError as error:
        needed = re.search(r"ulimit -n (\d+)", str(error.remedy))
        assert needed is not None
        assert limit < int(needed.group(1))
        assert fit(config, int(needed.group(1))).backlog >= 1
        return
    assert min(fitted.max_connections, fitted.max_per_address, fitted.backlog) >= 1
    assert OWN + PER_MATCH * matches + fitted.max_connections + fitted.backlog <= limit
    assert fit(config, None) == config


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("limit", [64, 500])
def test_matches_are_played_with_few_files(limit: int) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ServeProcess("--player", "random", "--machine", "prover", files=limit) as served:
        crowd = [socket.create_connection(("127.0.0.1", served.port), timeout=20) for _ in range(limit + 20)]
        assert body_of(talk(served.port, request_bytes(START, "x", "x"))) == "ready"
        assert body_of(talk(served.port, request_bytes("( PLAY m1 NIL )", "x", "x"))).startswith("(Mark")
        assert body_of(talk(served.port, request_bytes("( STOP m1 NIL )", "x", "x"))) == "done"
        for one in crowd:
            one.close()
    assert "Traceback" not in served.said
    assert " ends: " not in served.said
    assert "watchdog" not in served.said
    assert len(served.said.splitlines()) < 60
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


@LINUX
@pytest.mark.parametrize(("limit", "words"), [(20, ()), (200, ("--matches", "16"))])
def test_too_few_files_are_told_at_once_with_the_remedy(limit: int, words: tuple[str, ...]) -> None:
    command = f'ulimit -n {limit}; exec "$0" -m ggp serve --port 0 "$@"'
    ended = subprocess.run(
        ["sh", "-c", command, sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert f"only {limit} files" in " ".join(ended.stderr.split())
    assert "ulimit -n" in ended.stderr
    assert len(ended.stderr.splitlines()) <= 8


def test_running_out_of_files_is_one_line() -> None:
    said: list[object] = []
    loop = asyncio.new_event_loop()
    try:
        handle = quiet_about_files(lambda *words, **_: said.append(words))
        for _ in range(1000):
            handle(loop, {"message": "accept", "exception": OSError(errno.EMFILE, "too many")})
    finally:
        loop.close()
    assert said == [("error", "too many open files")]
