"""A cluster's token goes to the addresses that the operator named, whatever asks for another."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from gdl.errors import GdlError
from players.fleet import open_fleet as fleets
from players.fleet.open_fleet import check_permitted, is_permitted, open_fleet, permit_only, standing


@pytest.fixture(autouse=True)
def _unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fleets._VARIABLE, "")  # so that it is put back
    monkeypatch.delenv(fleets._VARIABLE)


def test_any_cluster_may_be_called_until_a_command_limits_itself() -> None:
    check_permitted("a:1")
    permit_only(["a:1", "local-ray:2"])
    assert [is_permitted(address) for address in ("a:1", "local-ray:2", "a:12", "a", "")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    permit_only(["b:1", "a:1"])
    assert not is_permitted("b:1")  # limits are never widened
    assert is_permitted("a:1")


def test_processes_that_are_started_inherit_the_limits() -> None:
    permit_only(["a:1"])
    code = "from players.fleet.open_fleet import is_permitted as p; print(p('a:1'), p('b:1'))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "False"]


def test_an_address_that_is_not_permitted_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    permit_only([])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.5)
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(GdlError, match="may not be called"):
            open_fleet(address)
        with pytest.raises(GdlError, match="may not be called"), standing(address):
            pass
        with pytest.raises(TimeoutError):
            listening.accept()
    with pytest.raises(GdlError, match="may not be called"):
        open_fleet("local-ray:2")
