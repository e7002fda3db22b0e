"""``ggp bench``: measures the cost of building a machine and its random playouts per second; reads, compares
and prints files of measurements.

A *row* is one game on one machine: the fields of :class:`Measurement`, and ``status``: ``ok``, or the reason
why these fields are missing. Files are JSON lines, a JSON list of rows, or a JSON object with the list under
``rows``.
"""

from __future__ import annotations

import math
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import orjson
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from gdl.ends import stuck_in_play
from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.reading import text_of_file
from gdl.rules import Rules
from ggp.console import new_console
from ggp.stopwatch import Stopwatch

_REPETITIONS = 5
"""Batches of playouts per measurement; their median counts, their range shows the noise."""
_FEWEST = {"prover": 1}
_FEWEST_LANES = 4096
"""The fewest playouts per batch: enough that lanes which run empty at the end matter little."""
_MOST = 1 << 24
_FIRST_SEED, _TRIAL_SEED = 2_000_003, 1_000_003
"""Added to the seed for playouts that do not count: the measurement repeats none of these."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One game on one machine, one thread. Times are seconds of CPU.

    Attributes:
        playouts_per_cpu_s, states_per_cpu_s: medians over the repetitions; a state is one joint move made.
        playouts_per_wall_s: playouts per second of wall time.
        rates: states per CPU second of each repetition.
        mean_length: joint moves per playout.
        playouts, cut: number of playouts measured; number of them that reached no terminal state.
        gates, gate_inputs, base_propositions, moves: size of the network (0 on the prover).
        ground_s, build_s: times to make the ground rules, and the network from them.
        compile_s: time to make the machine from these: the prover's code, a network's plan or native code.
        cached_s: time to make the native machine once more, from the cache on disk.
        compiled: share of a step's gate inputs that run native.
        first_playout_s: time from there to the first finished playout (kernels come from the disk cache).
        ns_per_lane_step: one joint move of one playout, everything included.
        peak_mb: maximum memory of this process.
        load: mean number of running processes on this computer in the minute before.
        seed: seed of the playouts.
        doubt: the reason why playouts end without a result, if a role is left without moves; otherwise empty.
    """

    game: str
    machine: str
    playouts_per_cpu_s: float
    states_per_cpu_s: float
    playouts_per_wall_s: float
    rates: list[float]
    mean_length: float
    playouts: int
    cut: int
    gates: int
    gate_inputs: int
    base_propositions: int
    moves: int
    ground_s: float
    build_s: float
    compile_s: float
    cached_s: float
    compiled: float
    first_playout_s: float
    ns_per_lane_step: float
    peak_mb: float
    load: float
    seed: int
    doubt: str

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return asdict(self)


def levels() -> tuple[str, ...]:
    """The levels of machines that can be measured, the slowest to play and first ready first."""
    from players.kaskade import LEVELS

    return tuple(level for level in LEVELS if level != "auto")


def measure(
    name: str,
    rules: Rules,
    level: str,
    seconds: float,
    seed: int = 0,
    repetitions: int = _REPETITIONS,
    playouts: int = 0,
) -> Measurement:
    """The measurement of the machine of a level: random playouts for about ``seconds`` of CPU.

    Args:
        name: the name of the game.
        rules: the game.
        level: one of :func:`levels`.
        seconds: CPU time of all repetitions together; a few slow playouts may take longer.
        seed: the same seed gives the same playouts, if ``playouts`` are given.
        repetitions: number of batches; their median counts.
        playouts: playouts per batch; 0 for as many as the time allows.

    Raises:
        RulesError, TooLargeError: the machine cannot be built.
    """
    machine: Any  # a machine with a network has more than the interface
    machine, stages = make(rules, level)
    watch = Stopwatch()
    machine.playouts(1, seed + _FIRST_SEED)
    first_playout_s = watch.lap()
    rates = run(machine, seconds, seed, repetitions, playouts)
    step = 1e9 / rates["states_per_cpu_s"] if rates["states_per_cpu_s"] else 0.0
    sizes: dict[str, Any] = dict.fromkeys(("gates", "gate_inputs", "base_propositions", "moves"), 0)
    network = getattr(machine, "network", None)
    if network is not None:
        sizes = {
            "gates": network.gates,
            "gate_inputs": len(network.gate_inputs),
            "base_propositions": len(network.bases),
            "moves": network.move_count,
        }
    return Measurement(
        game=name,
        machine=level,
        **rates,
        **sizes,
        **stages,
        first_playout_s=first_playout_s,
        ns_per_lane_step=step,
        peak_mb=peak_mb(),
        load=os.getloadavg()[0],
        seed=seed,
        doubt=stuck_in_play(machine) if rates["cut"] else "",
    )


def make(rules: Rules, level: str) -> tuple[Machine, dict[str, Any]]:
    """The machine of a level, and the times of its stages: ``ground_s``, ``build_s``, ``compile_s``,
    ``cached_s``; and ``compiled``. Raises RulesError or TooLargeError if the machine cannot be built."""
    from players.kaskade.make_machine import make_machine

    stages: dict[str, Any] = dict.fromkeys(("ground_s", "build_s", "compile_s", "cached_s", "compiled"), 0.0)
    watch = Stopwatch()
    if level == "prover":
        machine = make_machine(rules, level)
        stages["compile_s"] = watch.lap()
        return machine, stages
    from gdl.grounding.pipeline import ground
    from propnet.build import build
    from propnet.machine import PropnetMachine

    ground_rules = ground(rules)
    stages["ground_s"] = watch.lap()
    network = build(ground_rules)
    stages["build_s"] = watch.lap()
    if level == "propnet":
        machine = PropnetMachine(rules, network)
        stages["compile_s"] = watch.lap()
        return machine, stages
    from players.kaskade.make_machine import COMPILE_SECONDS
    from propnet.native.machine import native_machine
    from propnet.native.object_cache import ObjectCache, host
    from propnet.recoding.registers import with_registers

    host()
    watch.lap()  # LLVM looks up the processor once per process
    with tempfile.TemporaryDirectory() as folder:
        cache = ObjectCache(Path(folder))
        native = native_machine(rules, network, seconds=COMPILE_SECONDS, cache=cache)
        with_registers(native, seconds=COMPILE_SECONDS, cache=cache)
        stages["compile_s"] = watch.lap()
        native = native_machine(rules, network, seconds=0.0, cache=cache)
        native = with_registers(native, seconds=COMPILE_SECONDS, cache=cache)
        stages["cached_s"] = watch.lap()
    stages["compiled"] = native.compiled
    return native, stages


def run(
    machine: Machine,
    seconds: float,
    seed: int = 0,
    repetitions: int = _REPETITIONS,
    playouts: int = 0,
    cpu: Callable[[], float] = time.process_time,
) -> dict[str, Any]:
    """Random playouts for about ``seconds`` of CPU in ``repetitions`` batches of equal size.

    Batches before these determine the size, and warm up kernels and caches. Every batch plays other playouts,
    because repeated ones would flatter a machine that remembers states. If batches take too long, there are
    fewer.
    """
    batch = playouts or _batch(machine, seconds / repetitions, seed, cpu)
    states: list[float] = []
    games: list[float] = []
    steps = cut = 0
    spent = wall_spent = 0.0
    for repetition in range(repetitions):
        wall = time.perf_counter()
        before = cpu()
        result = machine.playouts(batch, seed + repetition)
        took = max(cpu() - before, 1e-9)
        wall_spent += time.perf_counter() - wall
        spent += took
        steps += result.states
        cut += result.cut
        states.append(result.states / took)
        games.append(batch / took)
        enough = 3 if spent > 2 * seconds else repetitions
        if not playouts and len(states) >= (1 if spent > 4 * seconds else enough):
            break
    done = batch * len(states)
    return {
        "playouts_per_cpu_s": median(games),
        "states_per_cpu_s": median(states),
        "playouts_per_wall_s": done / max(wall_spent, 1e-9),
        "rates": states,
        "mean_length": steps / done,
        "playouts": done,
        "cut": cut,
    }


def _batch(machine: Machine, seconds: float, seed: int, cpu: Callable[[], float]) -> int:
    """The number of playouts that take about this long: a power of two, found by trying."""
    batch = _FEWEST.get(machine.level, _FEWEST_LANES)
    trial = seed + _TRIAL_SEED
    while True:
        before = cpu()
        machine.playouts(batch, trial)
        took = max(cpu() - before, 1e-9)
        trial += 1
        if took >= 0.7 * seconds or batch >= _MOST:
            return batch
        growth = 2
        while growth < 16 and growth * took < 0.7 * seconds:
            growth *= 2
        batch *= growth


def peak_mb() -> float:
    """The maximum memory of this process, in 10**6 bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


Row = dict[str, Any]

_MOST_BYTES = 64 << 20

READY = ("ground_s", "build_s", "compile_s", "first_playout_s")
"""The stages from the rules to the first finished playout."""


def read_results(path: Path) -> tuple[Row, list[Row]]:
    """The file's description of the whole run (may be empty), and its rows.

    An incomplete last line (the run was stopped) is left out. Of several rows of the same game and machine
    the last one counts. Raises GdlError if the file cannot be read, or does not hold rows.
    """
    text = text_of_file(path, _MOST_BYTES)
    about: Row = {}
    rows: dict[tuple[str, str], Row] = {}
    for value in _values(text):
        if not isinstance(value, dict) or not ("about" in value or {"game", "machine"} <= value.keys()):
            raise GdlError(
                f"{path} does not hold measurements", remedy="`ggp bench --json` writes such files"
            )
        if "about" in value:
            about = value["about"]
        else:
            value.setdefault("status", "ok")
            rows[value["game"], value["machine"]] = value
    return about, list(rows.values())


def _values(text: str) -> list[Any]:
    """The JSON values of a file of any of the three kinds; only None if the file is of none of them."""
    try:
        whole = orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    else:
        if isinstance(whole, dict) and isinstance(whole.get("rows"), list):
            return [{"about": whole.get("about", {})}, *whole["rows"]]
        return whole if isinstance(whole, list) else [whole]
    lines = text.split("\n")
    values = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            values.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            if number < len(lines) - 1:
                return [None]
    return values or [None]


def ready_seconds(row: Row) -> float:
    """CPU seconds from the rules to the first finished playout."""
    return float(sum(row.get(stage, 0.0) for stage in READY))


def spread(row: Row) -> float:
    """Half of the range of the repetitions, relative to the median."""
    middle = row["states_per_cpu_s"]
    rates = row.get("rates") or [middle]
    return float((max(rates) - min(rates)) / 2 / middle) if middle else 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """The results of one game on one machine, before and after.

    Attributes:
        old, new: states per CPU second; 0 if there is no such measurement.
        sure: whether the repetitions differ beyond their noise, see :func:`differ` (the whole computer may
            still have been slower once).
        old_ready, new_ready: CPU seconds from the rules to the first playout.
        note: the reason why there is no ratio; empty if there is one.
    """

    game: str
    machine: str
    old: float
    new: float
    sure: bool
    old_ready: float
    new_ready: float
    note: str = ""

    @property
    def ratio(self) -> float:
        """New over old; 0 if one is missing."""
        return self.new / self.old if self.old and self.new else 0.0


def differ(old: list[float], new: list[float]) -> bool:
    """Whether two samples differ by more than noise: the rank test of Mann and Whitney.

    At least 92 % of all pairs must point the same way. Samples of five from the same distribution do so in 3
    of 100 cases. Fewer than three values prove nothing.
    """
    pairs = [(a, b) for a in old for b in new]
    larger = sum((b > a) + (b == a) / 2 for a, b in pairs) / max(1, len(pairs))
    return min(len(old), len(new)) >= 3 and not 0.08 < larger < 0.92


def compare(old: list[Row], new: list[Row]) -> list[Change]:
    """The change of every game and machine of ``new``.

    The comparison uses states per CPU second. Unlike playouts they do not depend on the length of the few
    playouts of a slow machine.
    """
    before = {(row["game"], row["machine"]): row for row in old}
    return [_change(before.get((row["game"], row["machine"])), row) for row in new]


def _change(old: Row | None, new: Row) -> Change:
    def rate(row: Row | None) -> float:
        return float(row["states_per_cpu_s"]) if row is not None and row["status"] == "ok" else 0.0

    note = ""
    sure = True
    if old is None:
        note = "not measured before"
    elif not rate(new):
        note = f"now: {new['status']}" if new["status"] != "ok" else "no state was ever left"
    elif not rate(old):
        note = f"before: {old['status']}"
    else:
        sure = differ(old.get("rates", []), new.get("rates", []))
    return Change(
        new["game"],
        new["machine"],
        rate(old),
        rate(new),
        sure,
        ready_seconds(old) if rate(old) and old is not None else 0.0,
        ready_seconds(new) if rate(new) else 0.0,
        note,
    )


_NARROW = 100
_NOTICED = 0.02
"""Changes below this share are not coloured even if the repetitions lie apart."""
_REGRESSION = 0.1
"""Rates that fall by a larger share are listed below the table."""


def console() -> Console:
    """Standard output as wide as the terminal; wide if it is a file or a pipe."""
    output = new_console()
    return output if output.is_terminal else new_console(width=200)


def measurements(rows: list[Row], width: int = 200) -> RenderableType:
    """Two tables: the speed of each game, and the cost of its preparation."""
    good = [row for row in rows if row["status"] == "ok"]
    wide = width >= _NARROW
    speed = _table("game", "machine", "playouts/cpu s", "±", *(["states/cpu s"] if wide else []), "ns/step")
    ready = _table(
        "game", "machine", *(["gates"] if wide else []), "inputs", *(["bases", "moves"] if wide else []),
        "steps", "ground s", "build s", "compile s", "first s", *(["MB"] if wide else []),
    )  # fmt: skip
    for row in good:
        name, network = [row["game"], row["machine"]], bool(row["moves"])
        speed.add_row(
            *name,
            number(row["playouts_per_cpu_s"]),
            f"{spread(row):.0%}",
            *([number(row["states_per_cpu_s"])] if wide else []),
            number(row["ns_per_lane_step"]),
        )
        sizes = ("gates", "gate_inputs", "base_propositions", "moves") if wide else ("gate_inputs",)
        ready.add_row(
            *name,
            *(f"{row[key]:,}" if network else "" for key in sizes),
            f"{row['mean_length']:.1f}",
            *(f"{row[key]:.2f}" for key in ("ground_s", "build_s", "compile_s", "first_playout_s")),
            *([f"{row['peak_mb']:,.0f}"] if wide else []),
        )
    legend = Text("CPU time of one thread, medians, ± half the range of the repetitions", "dim")
    doubts = [
        Text(f"{row['game']}: {row['doubt']}: playouts end there, without a result", "yellow")
        for row in good
        if row.get("doubt")
    ]
    return Group(speed, legend, Text(), ready, *dict.fromkeys(doubts))


def comparison(changes: list[Change]) -> RenderableType:
    """States per CPU second before and after, with coloured ratios if they are not noise."""
    table = _table("game", "machine", "states/cpu s old", "new", "ratio", "ready old", "new s", "")
    table.columns[0].min_width = 12
    for change in changes:
        table.add_row(
            change.game,
            change.machine,
            number(change.old),
            number(change.new),
            ratio(change),
            f"{change.old_ready:.2f}" if change.old else "",
            f"{change.new_ready:.2f}" if change.new else "",
            Text(change.note, "red" if change.old else "dim") if change.note else _hint(change),
        )
    lines: list[RenderableType] = [table, Text()]
    for machine in dict.fromkeys(change.machine for change in changes):
        ratios = [change for change in changes if change.machine == machine and change.ratio]
        if not ratios:
            continue
        faster = sum(_noticed(change) and change.ratio > 1 for change in ratios)
        slower = sum(_noticed(change) and change.ratio < 1 for change in ratios)
        prepared = [c.new_ready / c.old_ready for c in ratios if c.new_ready and c.old_ready]
        ready = geometric_mean(prepared or [1.0])
        mean = geometric_mean(change.ratio for change in ratios)
        lines.append(
            Text.assemble(
                f"{machine}: ",
                (f"{mean:.3f}", "bold"),
                f" times the states per CPU second (geometric mean of {len(ratios)}; {faster} faster, "
                f"{slower} slower, {len(ratios) - faster - slower} within noise), "
                f"{ready:.2f} times the time to get ready",
            )
        )
    lost = [change for change in changes if _regressed(change)]
    if lost:
        listed = ", ".join(f"{change.game} on {change.machine} {change.ratio:.2f}" for change in lost)
        lines.append(Text(f"slower by more than {_REGRESSION:.0%}: {listed}", "bold red"))
    return Group(*lines)


def _regressed(change: Change) -> bool:
    """Whether the rate fell by more than a tenth, and not by noise.

    >>> _regressed(Change("chess", "native", 100.0, 89.0, True, 0.0, 0.0))
    True
    """
    return change.sure and 0 < change.ratio < 1 - _REGRESSION


def ratio(change: Change) -> Text:
    """New over old: green or red if it certainly changed."""
    if not change.ratio:
        return Text("")
    style = ("bold green" if change.ratio > 1 else "bold red") if _noticed(change) else "dim"
    return Text(f"{change.ratio:.2f}", style)


def _noticed(change: Change) -> bool:
    return change.sure and abs(math.log(change.ratio)) > _NOTICED


def _hint(change: Change) -> Text:
    return Text("") if _noticed(change) else Text("≈ noise" if not change.sure else "≈", "dim")


def number(value: float) -> str:
    """A rate or a time with three significant digits; empty for 0."""
    if not value:
        return ""
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < 2 or not column else "right", no_wrap=place > 0)
    return table
