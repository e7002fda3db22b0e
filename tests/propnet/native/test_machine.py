"""Native code, whole, in part or not at all, is the interpreter's equal; what its cache reads was written."""

from __future__ import annotations

import logging
import pickle
import re
import signal
import subprocess
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gdl.errors import TooLargeError
from gdl.rules import Rules
from gdl.scramble import scramble
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from propnet.expander import Expander
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine
from propnet.native import machine as native
from propnet.native.codegen import text
from propnet.native.layout import PIECE, WIDE, Straight, straighten
from propnet.native.machine import NativeCode, NativeMachine, compile_network, native_machine
from propnet.native.object_cache import ObjectCache, Target, digest, from_bytes, host, to_bytes
from propnet.network import Network
from tests.propnet.circuits import random_network, tic_tac_toe

WORDS_OF_LLVM = {
    *("define", "void", "ptr", "noalias", "nocapture", "nounwind", "getelementptr", "load", "store"),
    *("align", "and", "or", "xor", "splat", "ret"),
}
GAMES = ["breakthrough", "biddingtictactoe", "chinesecheckers", "hex", "atarigo", "sokoban"]


def networks() -> list[Network]:
    some = [tic_tac_toe()]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        widest = (6, 3 * WIDE)[seed % 2]
        some.append(random_network(rng, 40, [7, 4, 1], 3 * PIECE, widest=widest, loops=seed % 3))
    return some


def code_of(network: Network, **options: Target | int) -> NativeCode:
    *_, code = compile_network(network, **options)
    return code


def assert_alike(one: PropnetMachine, other: PropnetMachine, starts: int = 600) -> None:
    rng = np.random.default_rng(1)
    network = one.network
    records = pack(rng.random((starts, len(network.bases))) < 0.4)
    first, second = one.evaluate(records), other.evaluate(records)
    assert (first.terminal == second.terminal).all()
    assert (first.goals == second.goals).all()
    assert (first.legal == second.legal).all()
    moves = rng.integers(0, [len(m) for m in network.moves], (starts, len(network.moves))).astype(np.int32)
    assert (one.successors(records, moves) == other.successors(records, moves)).all()
    for start in (records, records[:1]):
        many = np.repeat(start, 1400 // len(start), axis=0)
        a, b = one.playouts_from(many, 5, max_steps=12), other.playouts_from(many, 5, max_steps=12)
        assert (a.goals == b.goals).all()
        assert (a.lengths == b.lengths).all()
        assert a.cut == b.cut


@pytest.mark.parametrize("number", range(5))
def test_native_code_of_random_networks_is_the_interpreters_equal(number: int) -> None:
    network = networks()[number]
    code = code_of(network)
    assert code.complete()
    machine = NativeMachine(Rules(()), network, code)
    assert machine.compiled == 1.0
    assert_alike(machine, PropnetMachine(Rules(()), network))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("part", [0, 2])
def test_what_is_not_compiled_is_interpreted(monkeypatch: pytest.MonkeyPatch, number: int, part: int) -> None:
    monkeypatch.setattr(native, "UNIT", 1)
    monkeypatch.setattr(native, "PAYS", 0.0)
    network = networks()[number]
    whole = code_of(network)
    kept = [first for i, first in enumerate(whole.objects) if part and i % (part + 1) == 0]
    code = NativeCode(whole.straight, whole.target, {first: whole.objects[first] for first in kept})
    machine = NativeMachine(Rules(()), network, code)
    assert machine.compiled < 1 or part
    assert_alike(machine, PropnetMachine(Rules(()), network))


@pytest.mark.parametrize("without", ["+avx512f", "+avx", "+sse3"])
def test_the_same_code_runs_on_processors_that_have_less(without: str) -> None:
    here = host().features.split(",")
    if without == "+sse3":
        target = Target("x86-64", "")
    else:
        lost = [f for f in here if not f.startswith(without) and not f.startswith("+amx")]
        lost += ["-" + f[1:] for f in here if f.startswith(without)]
        target = Target("x86-64", ",".join(lost))
    if "+avx" not in here:
        pytest.skip("made for x86-64")
    if without == "+avx512f" and without not in here:
        pytest.skip("this processor has no AVX-512 to do without")
    network = random_network(np.random.default_rng(9), 20, [5, 4], 50, loops=1)
    code = code_of(network, target=target)
    assert code.target.runs_here()
    best = code_of(network)
    assert set(best.objects) == set(code.objects)
    assert all(best.objects[k] != code.objects[k] for k in best.objects)
    assert_alike(NativeMachine(Rules(()), network, code), PropnetMachine(Rules(()), network))


def test_code_is_compiled_for_the_processor_that_numba_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    here = host()
    monkeypatch.setenv("NUMBA_CPU_NAME", "x86-64")
    assert host.__wrapped__() == Target("x86-64", "")
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+avx2")
    assert host.__wrapped__() == Target("x86-64", "+avx2")
    monkeypatch.delenv("NUMBA_CPU_NAME")
    assert host.__wrapped__() == here


def test_code_for_a_processor_that_has_more_is_known_not_to_run_here() -> None:
    assert host().runs_here()
    assert not Target(host().cpu, host().features + ",+of-the-future").runs_here()


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_games_play_the_same_playouts_on_both_machines(name: str) -> None:
    game = Game.load(name)
    slow = game.machine("propnet")
    assert isinstance(slow, PropnetMachine)
    fast = native_machine(game.rules, slow.network)
    assert fast.compiled == 1.0
    a, b = slow.playouts(700, seed=3, max_steps=300), fast.playouts(700, seed=3, max_steps=300)
    assert (a.goals == b.goals).all()
    assert (a.lengths == b.lengths).all()


def test_the_text_that_is_compiled_has_nothing_of_the_rules_but_numbers() -> None:
    game = Game.load("breakthrough")
    for rules in (game.rules, scramble(game.rules, seed=5)[0]):
        machine = make_machine(rules, "propnet")
        assert isinstance(machine, PropnetMachine)
        straight = straighten(machine.network)
        words = set(re.findall(r"[A-Za-z_]{2,}", text(straight, range(len(straight.pieces)))))
        assert words <= WORDS_OF_LLVM


def test_compilers_beside_this_process_make_the_same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "UNIT", 1)
    network = networks()[2]
    assert code_of(network, jobs=2).objects == code_of(network).objects


def test_a_text_for_which_there_is_no_memory_leaves_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> str:
        raise MemoryError("no room")

    monkeypatch.setattr(native, "UNIT", 1)
    monkeypatch.setattr(native, "text", full)
    code = code_of(networks()[2], jobs=2)
    assert not code.objects and "no room" in caplog.text


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
def test_compilers_that_are_stopped_leave_the_rest_to_the_interpreter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(*words, **options)
        process.send_signal(signal.SIGSTOP)
        return process

    monkeypatch.setattr(native, "UNIT", 1)
    monkeypatch.setattr(native, "_OVERTIME_SECONDS", 0.5)
    monkeypatch.setattr(native, "subprocess", SimpleNamespace(Popen=stopped, PIPE=subprocess.PIPE))
    code = code_of(networks()[2], jobs=2, seconds=0.5)
    assert not code.objects


def test_a_compiler_that_fails_leaves_the_interpreter_and_a_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(source: str, target: Target) -> bytes:
        raise RuntimeError("no registers left")

    monkeypatch.setattr(native, "compile_text", refuse)
    network = tic_tac_toe()
    with caplog.at_level(logging.WARNING, "propnet.native"):
        machine = native_machine(Rules(()), network)
    assert "no registers left" in caplog.text
    assert machine.compiled == 0.0
    assert_alike(machine, PropnetMachine(Rules(()), network))


def test_code_that_cannot_be_loaded_leaves_the_interpreter_and_a_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(objects: object, target: Target) -> None:
        raise RuntimeError("memory may not be executed")

    network = tic_tac_toe()
    code = code_of(network)
    monkeypatch.setattr(native, "Loaded", refuse)
    with caplog.at_level(logging.WARNING, "propnet.native"):
        machine = NativeMachine(Rules(()), network, code)
    assert "may not be executed" in caplog.text
    assert machine.compiled == 0.0
    assert_alike(machine, PropnetMachine(Rules(()), network))


def test_no_time_means_nothing_compiled_and_what_was_compiled_is_continued(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    network = networks()[3]
    none = native_machine(Rules(()), network, seconds=0.0, cache=cache)
    assert none.compiled == 0.0
    assert_alike(none, PropnetMachine(Rules(()), network))
    whole = native_machine(Rules(()), network, cache=cache)
    assert whole.compiled == 1.0
    again = native_machine(Rules(()), network, seconds=0.0, cache=cache)
    assert again.compiled == 1.0


def test_what_cannot_be_compiled_in_time_is_told_before_anything_is_done() -> None:
    with pytest.raises(TooLargeError, match="native code would take"):
        list(compile_network(networks()[2], seconds=1e-6))


def test_a_machine_survives_pickling() -> None:
    network = networks()[1]
    machine = pickle.loads(pickle.dumps(NativeMachine(Rules(()), network, code_of(network))))
    assert machine.compiled == 1.0
    assert_alike(machine, PropnetMachine(Rules(()), network))


def test_a_network_without_gates_is_compiled_at_once() -> None:
    network = random_network(np.random.default_rng(0), 3, [1], 0)
    machine = native_machine(Rules(()), network)
    assert machine.code is not None
    assert machine.code.complete()
    assert_alike(machine, PropnetMachine(Rules(()), network))


@pytest.mark.parametrize("number", range(5))
def test_several_moves_can_be_made_after_one_evaluation(number: int) -> None:
    network = networks()[number]
    records = pack(np.random.default_rng(1).random((600, len(network.bases))) < 0.4)
    machines = PropnetMachine(Rules(()), network), NativeMachine(Rules(()), network, code_of(network))
    slow, fast = (Expander(machine).expand(records, judged=True) for machine in machines)
    assert (slow.parents == fast.parents).all()
    assert (slow.moves == fast.moves).all()
    assert (slow.records == fast.records).all()
    assert (slow.terminal == fast.terminal).all()
    assert (slow.goals == fast.goals).all()


@pytest.mark.parametrize("faster", ["native", "interpreter"])
def test_large_networks_run_the_way_that_is_found_faster(
    monkeypatch: pytest.MonkeyPatch, faster: str
) -> None:
    monkeypatch.setattr(native, "LARGE", 0)
    network = networks()[1]
    code = code_of(network)
    wires = code.straight.plan.wires
    monkeypatch.setattr(
        native, "_step_seconds", lambda plan, code: float((plan.wires == wires) == (faster == "interpreter"))
    )
    machine = NativeMachine(Rules(()), network, code)
    assert machine.compiled == (1.0 if faster == "native" else 0.0)
    assert_alike(machine, PropnetMachine(Rules(()), network))


# --- The cache on disk: what is read is what was written, or nothing
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
