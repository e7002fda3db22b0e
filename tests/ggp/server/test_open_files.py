"""Matches are played however few files may be open; where these are too few, one line says so."""

from __future__ import annotations

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
from ggp.server.settings import FILES_PER_MATCH, OWN_FILES, ServerConfig
from tests.ggp.server.live import START, ServeProcess, body_of, talk
from tests.places import ROOT

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux' limits and processes")


@given(limit=st.integers(1, 5000), matches=st.integers(1, 64))
def test_what_is_taken_is_within_the_limit(limit: int, matches: int) -> None:
    config = ServerConfig(matches=matches)
    try:
        fitted = config.fit(limit).limits
    except GdlError as error:
        needed = re.search(r"ulimit -n (\d+)", str(error.remedy))
        assert needed is not None
        assert limit < int(needed.group(1))
        assert config.fit(int(needed.group(1))).limits.backlog >= 1
        return
    assert min(fitted.most, fitted.most_per_address, fitted.backlog) >= 1
    assert OWN_FILES + FILES_PER_MATCH * matches + fitted.most + fitted.backlog <= limit
    assert config.fit(None) == config


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
