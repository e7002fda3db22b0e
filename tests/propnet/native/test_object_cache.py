"""The cache on disk: what is read is what was written, or nothing."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from propnet.native.layout import Straight
from propnet.native.machine import compile_network
from propnet.native.object_cache import ObjectCache, Target, digest, from_bytes, host, to_bytes
from propnet.network import Network
from tests.propnet.circuits import random_network, tic_tac_toe


@pytest.fixture(scope="module")
def compiled() -> tuple[Network, Straight, dict[int, bytes]]:
    network = random_network(np.random.default_rng(1), 20, [5, 4], 150, loops=1)
    *_, code = compile_network(network)
    return network, code.straight, code.objects


def same(one: Straight, other: Straight) -> bool:
    return to_bytes(one, {}) == to_bytes(other, {})


def test_bytes_mean_what_they_were_made_of(compiled) -> None:
    _, layout, objects = compiled
    again, read = from_bytes(to_bytes(layout, objects))
    assert read == objects
    assert same(again, layout)
    assert again.plan.wires == layout.plan.wires
    assert type(again.plan.wires) is int


def test_what_is_kept_is_found_for_this_network_and_processor_only(compiled, tmp_path: Path) -> None:
    network, layout, objects = compiled
    cache = ObjectCache(tmp_path / "new" / "folder")
    assert cache.get(network, host()) is None
    cache.put(network, host(), layout, objects)
    cached = cache.get(network, host())
    assert cached is not None
    assert cached[1] == objects
    assert cache.get(tic_tac_toe(), host()) is None
    assert cache.get(network, Target("x86-64", "")) is None
    assert ObjectCache(tmp_path).get(network, host()) is None


def test_the_code_of_another_network_under_this_ones_name_is_not_run(compiled, tmp_path: Path) -> None:
    network, layout, objects = compiled
    other = tic_tac_toe()
    *_, code = compile_network(other)
    cache = ObjectCache(tmp_path)
    cache.put(network, host(), layout, objects)
    cache.put(other, host(), code.straight, code.objects)
    cache.path(other, host()).replace(cache.path(network, host()))
    assert cache.get(network, host()) is None
    cache.put(network, host(), layout, objects)
    assert cache.get(network, host()) is not None


def test_the_digest_is_of_the_network_and_not_of_its_names(compiled) -> None:
    network = compiled[0]
    renamed = replace(network, bases=tuple(reversed(network.bases)))
    assert digest(renamed) == digest(network)
    for change in (
        {"initial": ~network.initial},
        {"next_literals": network.next_literals ^ 1},
        {"terminal_literal": network.terminal_literal ^ 1},
        {"goals": network.goals + 1},
        {"gate_inputs": network.gate_inputs ^ 1},
    ):
        assert digest(replace(network, **change)) != digest(network)


def test_files_that_were_cut_or_changed_are_not_used_and_are_mended(compiled, tmp_path: Path) -> None:
    network, layout, objects = compiled
    cache = ObjectCache(tmp_path)
    cache.put(network, host(), layout, objects)
    path = cache.path(network, host())
    whole = path.read_bytes()
    for spoilt in (whole[:-1], whole[: len(whole) // 2], b"", whole[:-9] + b"?" + whole[-8:], whole[5:]):
        path.write_bytes(spoilt)
        assert cache.get(network, host()) is None
    *_, code = compile_network(network, cache=cache)
    assert code.objects == objects
    assert path.read_bytes() == whole


def test_writers_at_the_same_time_leave_a_whole_file(compiled, tmp_path: Path) -> None:
    network, layout, objects = compiled
    cache = ObjectCache(tmp_path)
    seen: list[dict[int, bytes] | None] = []

    def work() -> None:
        for _ in range(20):
            cache.put(network, host(), layout, objects)
            cached = cache.get(network, host())
            seen.append(cached[1] if cached else None)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [objects] * 80
    assert [p.name for p in tmp_path.iterdir()] == [cache.path(network, host()).name]


def test_what_others_could_have_written_is_not_run(compiled, tmp_path: Path) -> None:
    network, layout, objects = compiled
    cache = ObjectCache(tmp_path)
    cache.put(network, host(), layout, objects)
    tmp_path.chmod(0o777)
    assert cache.get(network, host()) is None
    tmp_path.chmod(0o700)
    assert cache.get(network, host()) is not None


def test_a_directory_that_cannot_be_had_only_forgets(compiled, tmp_path: Path) -> None:
    network, layout, objects = compiled
    (tmp_path / "file").write_text("in the way")
    cache = ObjectCache(tmp_path / "file" / "below")
    cache.put(network, host(), layout, objects)
    assert cache.get(network, host()) is None


def test_old_files_make_room_for_new_ones(compiled, tmp_path: Path) -> None:
    _, layout, objects = compiled
    size = len(to_bytes(layout, objects))
    cache = ObjectCache(tmp_path, most_bytes=2 * size)
    others = [random_network(np.random.default_rng(s), 5, [2], 10) for s in range(10, 15)]
    for other in others:
        cache.put(other, host(), layout, objects)
    assert sum(p.stat().st_size for p in tmp_path.iterdir()) <= 3 * size
    assert cache.get(others[-1], host()) is not None
