"""Traces: random matches as JSON lines, state by state (``ggp playthrough``), and their replay against a
machine (``ggp verify``).

Each game is replayed in a process of its own: a process that crashes, hangs or exceeds its memory only
produces a failing line.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import multiprocessing
import os
import random
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import orjson

from gdl.errors import FileError, GdlError, cannot_play
from gdl.information import hides
from gdl.machine import JointMove, Machine, State
from gdl.reading import games_folder, open_regular, read_limited
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.syntax.variants import read_sizes, variant
from gdl.terms import Term
from ggp.rule_files import MOST_BYTES as MOST_RULES
from ggp.rule_files import SUFFIXES, installed_game, read_rules_file
from players.processes.lifeline import Lifeline
from players.processes.limits import limit_memory


def record(
    machine: Machine,
    name: str,
    *,
    seed: int = 0,
    playouts: int = 1,
    opening: str = "",
    max_steps: int = 10_000,
    max_bytes: int | None = None,
) -> Iterator[bytes]:
    """A trace of one or more random matches: JSON objects, one per line.

    The choice of moves depends only on the seed and the rules: two machines that agree on the rules produce
    the same trace.

    Args:
        machine: the game.
        name: its name, for the first line.
        seed: seed of the choice of moves.
        playouts: number of matches, one after the other.
        opening: moves, as a sequence of GDL terms, that begin the first match: at each step one for every
            role that has a choice, in role order. A forced move may be given, too.
        max_steps: a match ends after this many joint moves.
        max_bytes: approximate limit of the size of the trace. Each match gets a share; if a match needs more,
            its middle is left out, so that its first and last states remain.

    Raises:
        MoveError: the opening has an illegal move.
    """
    roles = [machine.rules.spell(role) for role in machine.roles]
    init = _spelled(machine, machine.initial_state().propositions)
    yield _line(type="game", game=name, roles=roles, init=init, rules=len(machine.rules), seed=seed)
    rng = random.Random(seed)
    states = ended = 0
    for playout in range(playouts):
        script = parse_terms(opening, "opening", "auto")[::-1] if opening and not playout else []
        lines: list[bytes] = []
        for step, (state, joint) in enumerate(_match(machine, rng, script, max_steps)):
            lines.append(_step(playout, step, state, joint))
            ended += state.terminal
        if max_bytes is not None:
            lines = _ends(lines, max_bytes // playouts)
        states += len(lines)
        yield from lines
    yield _line(type="end", status="ok", states=states, playouts=playouts, terminals=ended)


def _match(
    machine: Machine, rng: random.Random, script: list[Term], max_steps: int
) -> Iterator[tuple[State, JointMove | None]]:
    """States and the joint moves in them; None in the last one. Removes the moves used from the end of the
    script."""
    state = machine.initial_state()
    for _ in range(max_steps):
        options = machine.options(state)
        if machine.is_terminal(state) or not all(options):
            break
        joint = []
        for role, moves in enumerate(options):
            if len(moves) == 1 and (not script or machine.move(role, moves[0]) is not script[-1]):
                joint.append(moves[0])
            elif script:
                joint.append(_scripted(machine, role, script.pop(), moves))
            else:
                joint.append(rng.choice(sorted(moves, key=lambda m: machine.move(role, m))))
        yield state, tuple(joint)
        state = machine.next_state(state, joint)
    yield state, None


def _scripted(machine: Machine, role: int, move: Term, options: Sequence[int]) -> int:
    index = machine.move_id(role, move)
    if index not in options:
        texts = machine.move_texts[role]
        legal = [texts[option] for option in options]
        raise cannot_play(machine.roles[role], str(move), legal, "the opening's move is not legal there")
    return index


def _step(playout: int, step: int, state: State, joint: JointMove | None) -> bytes:
    machine = state.machine
    move, spell = machine.move, machine.rules.spell
    roles = range(len(machine.roles))
    percepts: dict[str, Any] = {}
    if joint is not None and hides(machine.rules):
        percepts["percepts"] = [_spelled(machine, seen) for seen in machine.percepts(state, joint)]
    legal = [[move(r, m) for m in machine.legal_moves(state, r)] for r in roles]
    return _line(
        type="step",
        p=playout,
        s=step,
        terminal=machine.is_terminal(state),
        state=_spelled(machine, state.propositions),
        legal={spell(machine.roles[r]): _spelled(machine, legal[r]) for r in roles},
        joint=None if joint is None else [spell(move(r, joint[r])) for r in roles],
        goals=[machine.goal(state, r) for r in roles],
        **percepts,
    )


def _spelled(machine: Machine, terms: Iterable[Term]) -> list[str]:
    return [machine.rules.spell(t) for t in sorted(terms)]


def _line(**fields: Any) -> bytes:
    return orjson.dumps(fields) + b"\n"


def _ends(lines: list[bytes], budget: int) -> list[bytes]:
    """As many of the first and last lines as the budget allows, alternating between both ends."""
    head, tail = 0, len(lines)
    while head < tail:
        at_head = head <= len(lines) - tail
        budget -= len(lines[head if at_head else tail - 1])
        if budget < 0 and head and tail < len(lines):
            break
        head, tail = (head + 1, tail) if at_head else (head, tail - 1)
    return lines[:head] + lines[tail:]


MOST_OF_LINE = 16 << 20
MOST_BYTES = 1 << 30
"""The most bytes of a trace, unpacked."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One game's trace file and the rules that it was recorded from."""

    name: str
    rules: Path
    trace: Path


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of replaying one game: ``fault`` is None if everything agrees; ``seconds`` is CPU time."""

    name: str
    fault: str | None
    steps: int
    seconds: float


def find_traces(paths: Iterable[Path], games: Path | None = None) -> list[Trace]:
    """The traces below given paths, sorted by name.

    Args:
        paths: trace files, folders of them, folders with ``games/`` and ``traces/``, or names of bundled
            games with a playthrough.
        games: the folder of the rules; None for the folder next to the traces' folder, then the bundled
            games.

    Raises:
        GdlError: a path is missing or holds no traces.
    """
    traces: dict[Path, Trace] = {}
    for asked in paths:
        path = asked
        if not os.path.exists(path):
            path = games_folder() / "playthroughs" / f"{str(path).lower()}.jsonl"
        if not os.path.exists(path):
            remedy = f"`ggp playthrough {asked} > FILE.jsonl` writes one" if ":" in asked.name else ""
            raise GdlError(f"there is no trace, folder or game {asked}", remedy=remedy)
        if path.suffix in SUFFIXES and path.is_file():
            raise GdlError(
                f"{asked} is not a trace", remedy=f"`ggp playthrough {asked} > {path.stem}.jsonl` writes one"
            )
        folder = path / "traces" if (path / "traces").is_dir() else path
        files = [folder] if folder.is_file() else sorted(f for f in folder.iterdir() if _is_trace(f))
        if not files:
            raise GdlError(f"no traces in {folder}", remedy="they are called NAME.jsonl or NAME.jsonl.gz")
        for file in files:
            name = file.name.removesuffix(".gz").removesuffix(".jsonl")
            traces[file] = Trace(name, _rules_of(file, name, games), file)
    return sorted(traces.values(), key=lambda t: (t.name.lower(), t.trace))


def _rules_of(trace: Path, name: str, games: Path | None) -> Path:
    """The rules that a trace was recorded from: a file named like the trace, or like the game in its first
    line. A bundled game if no folder of games was given and no such file lies near the trace."""
    nearby = trace.parent.parent / "games"
    folder = games or (nearby if nearby.is_dir() else trace.parent)
    expected = folder / f"{name}{SUFFIXES[0]}"
    here = (folder / f"{name}{suffix}" for suffix in SUFFIXES)
    if (found := next(filter(Path.is_file, here), None)) is not None:
        return found
    try:
        recorded = str(next(read_trace(trace), {}).get("game", "")).partition(":")[0] or name
    except (GdlError, AttributeError):
        return expected  # replaying the trace will report its fault
    folders = [folder, *_subfolders(folder)] if games else [folder, trace.parent]
    stems = dict.fromkeys((recorded, recorded.lower(), name))
    files = [place / f"{stem}{suffix}" for place in folders for stem in stems for suffix in SUFFIXES]
    plain = (file for file in files if Path(file.name).name == file.name and file.is_file())
    bundled = iter(()) if games else map(installed_game, stems)
    return next((file for file in chain(plain, bundled) if file is not None), expected)


def _subfolders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _is_trace(path: Path) -> bool:
    return path.name.endswith((".jsonl", ".jsonl.gz"))


def read_trace(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a trace file, plain or compressed, line by line. Raises GdlError if it is not a trace,
    and FileError if it cannot be read or exceeds the limit. Lengths of lines and files are measured
    unpacked."""
    with open_regular(path) as packed:
        unpacked = gzip.GzipFile(fileobj=packed) if path.suffix == ".gz" else packed
        lines = io.TextIOWrapper(unpacked, "utf-8-sig")
        left = MOST_BYTES
        try:
            while line := lines.readline(MOST_OF_LINE + 1):
                left -= len(line)
                if len(line) > MOST_OF_LINE or left < 0:
                    what = "it" if left < 0 else "a line"
                    most = MOST_BYTES if left < 0 else MOST_OF_LINE
                    raise FileError(
                        f"cannot read the trace: {what} is larger than {most >> 20:,} MiB", source=str(path)
                    )
                if not line.isspace():
                    yield orjson.loads(line)
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise GdlError(f"cannot read the trace: {error}", source=str(path)) from None


class _DifferenceError(Exception):
    """The machine and the trace disagree."""


def verify_game(machine: Machine, lines: Iterable[dict[str, Any]]) -> tuple[str | None, int]:
    """Replay one trace, and find the first difference.

    Compares every step's state with the successor that the machine computed for the previous step; then its
    legal moves per role, whether it is terminal, and its goals; and the percepts of each role if they were
    recorded.

    Returns:
        A description of the first difference (None if there is none), and the number of states compared.

    Raises:
        GdlError: a line of the trace is malformed.
    """
    replay = _Replay(machine)
    try:
        for line in lines:
            match line["type"]:
                case "game":
                    replay.header(line)
                case "step":
                    replay.step(line)
    except _DifferenceError as difference:
        return str(difference), replay.steps
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise GdlError(f"the trace is malformed: {error!r}") from None
    if not replay.steps:
        return "the trace has no steps", 0
    return None, replay.steps


class _Replay:
    """The position of a replay: the playout, and the state that must come next."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.steps = 0
        self.expected: tuple[int, int, State] | None = None

    def header(self, line: dict[str, Any]) -> None:
        machine = self.machine
        self.same("roles", tuple(map(_term, line["roles"])), machine.roles, "the game")
        self.sets("initial state", map(_term, line["init"]), machine.initial_state().propositions, "the game")

    def step(self, line: dict[str, Any]) -> None:
        machine = self.machine
        place = f"playout {line['p']} step {line['s']}"
        propositions = frozenset(map(_term, line["state"]))
        state = machine.initial_state()
        if self.expected is not None and self.expected[:2] == (line["p"], line["s"]):
            state = self.expected[2]
        elif line["s"] != 0:
            state = machine.state_of(propositions)
        self.sets("state", propositions, state.propositions, place)
        for role, name in enumerate(machine.roles):
            recorded = next((m for r, m in line["legal"].items() if _term(r) is name), None)
            if recorded is None:
                raise _DifferenceError(f"{place}: the trace has no legal moves for {name}")
            moves = [machine.move(role, m) for m in machine.legal_moves(state, role)]
            self.sets(f"legal moves of {name}", map(_term, recorded), moves, place)
        self.same("terminal", line["terminal"], machine.is_terminal(state), place)
        if line["goals"] is not None:  # not recorded in every state
            recorded_goals = [None if isinstance(g, list) else g for g in line["goals"]]
            goals = [machine.goal(state, role) for role in range(len(machine.roles))]
            self.same("goals", recorded_goals, goals, place)
        self.expected = None
        if line["joint"] is not None:
            joint = [machine.move_id(role, _term(m)) for role, m in enumerate(line["joint"])]
            self.expected = (line["p"], line["s"] + 1, machine.next_state(state, joint))
            for role, (recorded, seen) in enumerate(
                zip(line.get("percepts", ()), machine.percepts(state, joint), strict=False)
            ):
                self.sets(f"percepts of {machine.roles[role]}", map(_term, recorded), seen, place)
        self.steps += 1

    @staticmethod
    def same(what: str, recorded: object, computed: object, place: str) -> None:
        if recorded != computed:
            raise _DifferenceError(
                f"{place}: {what}: the trace has {_show(recorded)}, the machine {_show(computed)}"
            )

    @staticmethod
    def sets(what: str, recorded: Iterable[Term], computed: Iterable[Term], place: str) -> None:
        expected, present = set(recorded), set(computed)
        differences = []
        for text, terms in (("missing", expected - present), ("not in the trace", present - expected)):
            if terms:
                shown = " ".join(map(str, sorted(terms)[:3]))
                differences.append(f"{text}: {shown}{f' and {len(terms) - 3} more' * (len(terms) > 3)}")
        if differences:
            raise _DifferenceError(f"{place}: {what}: {'; '.join(differences)}")


def _show(value: object) -> str:
    if isinstance(value, tuple):
        return f"({' '.join(map(str, value))})"
    return "undefined" if value is None else str(value).replace("None", "undefined")


@lru_cache(maxsize=100_000)
def _term(text: str) -> Term:
    return parse_term(text)


def verify_file(trace: Trace, level: str) -> Verdict:
    """Replay one trace file on a fresh machine, in this process. Never raises GdlError."""
    started = time.process_time()
    steps = 0
    try:
        from players.kaskade.make_machine import make_machine

        if not trace.rules.exists():
            usual, *others = SUFFIXES
            raise GdlError(
                f"there are no rules of this name: {trace.name}{usual} (or {', '.join(others)})",
                remedy="name their folder by --games",
            )
        text, lines = read_rules_file(trace.rules), read_trace(trace.trace)
        header = next(lines, {})
        sizes = str(header.get("game", "")).partition(":")[2] if isinstance(header, dict) else ""
        if sizes and read_sizes(text)[0]:
            text = variant(trace.name, text, sizes)
        machine = make_machine(parse_rules(text, trace.name), level)
        fault, steps = verify_game(machine, chain([header] if header else [], lines))
        recorded = header.get("sha256")
        if (
            fault
            and recorded
            and recorded != hashlib.sha256(read_limited(trace.rules, MOST_RULES)).hexdigest()
        ):
            fault += " (the trace was recorded from other rules than these: their sha256 differs)"
    except GdlError as error:
        if error.source == trace.name:
            error.source = str(trace.rules)
        fault = str(error)
    except MemoryError:
        fault = "out of memory"
    return Verdict(trace.name, fault, steps, time.process_time() - started)


_SECONDS, _BYTES = 120.0, 3 * 1024**3
"""Wall time for a game; memory of its process."""


def verify_all(traces: list[Trace], level: str) -> Iterator[Verdict]:
    """Replay many traces on the machine of a level (:func:`players.kaskade.make_machine.make_machine`), one
    after the other, each in a process of its own."""
    context: Any = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    for trace in traces:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_replay_and_send, args=(trace, level, theirs, Lifeline()), daemon=True
        )
        process.start()
        theirs.close()
        try:
            if ours.poll(_SECONDS):
                yield ours.recv()
            else:
                yield Verdict(trace.name, f"took more than {_SECONDS:g} s", 0, _SECONDS)
        except EOFError:
            process.join()
            yield Verdict(trace.name, f"the process died ({process.exitcode})", 0, 0.0)
        finally:
            process.kill()
            process.join()
            ours.close()


def _replay_and_send(trace: Trace, level: str, connection: Connection, _: Lifeline) -> None:
    """The body of one game's process."""
    limit_memory(_BYTES)
    connection.send(verify_file(trace, level))
    connection.close()
