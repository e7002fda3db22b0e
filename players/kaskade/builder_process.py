"""The process that builds one stage of the cascade; run as ``python -m players.kaskade.builder_process``.

Its arguments are those that :mod:`players.kaskade.builder` gives. Grounding or compiling hostile rules
may take all the time and memory that it is given. Here it takes neither the interpreter lock nor
the memory of the process that must answer in time, and it can die alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from gdl.errors import GdlError
from players.processes import launch
from players.processes.limits import describe, limit_cpu, limit_files, limit_memory


def main() -> None:
    """Build one stage, and end."""
    function, warm_up, given, product, memory, cpu_seconds = sys.argv[1:]
    # What libraries print must not mix with the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limit_memory(int(memory))
    limit_files(int(memory))
    _die_first()
    with contextlib.suppress(Exception):  # what fails here fails again below, and is told then
        _find(function)
        # With rules already waiting, they are the warm-up.
        if warm_up and not launch.warm and not select.select([sys.stdin], [], [], 0)[0]:
            _find(warm_up)()
    line = sys.stdin.buffer.readline()
    if not line:
        return  # no match wanted it
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    limit_cpu(float(cpu_seconds))

    def say(**message: Any) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    try:
        text, before = _read_job(json.loads(line), int(given))
        work: Callable[[str, bytes], Iterator[bytes]] = _find(function)
        with open(int(product), "wb", buffering=0) as file:
            at = 0
            for part in work(text, before):
                rest = memoryview(part)
                while rest:
                    rest = rest[file.write(rest) :]
                say(at=at, size=len(part), sha256=hashlib.sha256(part).hexdigest())
                at += len(part)
        say(done=True)
    except GdlError as error:
        say(error=str(error))
    except (MemoryError, RecursionError):
        say(error="it takes more memory than it may")
    except Exception as error:
        say(error=describe(error))
    os._exit(0)


def _find(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _read_job(job: dict[str, Any], file: int) -> tuple[str, bytes]:
    with open(file, "rb") as source:
        source.seek(0)
        data = source.read()
    if len(data) != job["rules"] + job["given"] or hashlib.sha256(data).hexdigest() != job["sha256"]:
        raise ValueError("the builder was not given what was announced")
    return data[: job["rules"]].decode(), data[job["rules"] :]


def _die_first() -> None:
    """Where the computer runs out of memory, this process is the one to lose."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _end_with_the_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
