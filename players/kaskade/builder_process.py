"""The process that builds one stage of the kaskade; run as ``python -m players.kaskade.builder_process``.

:mod:`players.kaskade.builder` passes its arguments. Grounding or compiling hostile rules may use up all time
and memory allowed. Here it takes neither the interpreter lock nor the memory of the process that must answer
in time, and it can die alone.
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
    function, warm_up, source, product, memory, cpu_seconds = sys.argv[1:]
    # What libraries print must not mix with the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limit_memory(int(memory))
    limit_files(int(memory))
    _die_first()
    with contextlib.suppress(Exception):  # what fails here fails again below, and is reported then
        _resolve(function)
        # Rules that are waiting already are the warm-up.
        if warm_up and not launch.warm and not select.select([sys.stdin], [], [], 0)[0]:
            _resolve(warm_up)()
    line = sys.stdin.buffer.readline()
    if not line:
        return  # no match wanted it
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    limit_cpu(float(cpu_seconds))

    def say(**message: Any) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    try:
        text, previous = _read_source(json.loads(line), int(source))
        build: Callable[[str, bytes], Iterator[bytes]] = _resolve(function)
        with open(int(product), "wb", buffering=0) as file:
            at = 0
            for data in build(text, previous):
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) :]
                say(at=at, size=len(data), sha256=hashlib.sha256(data).hexdigest())
                at += len(data)
        say(done=True)
    except GdlError as error:
        say(error=str(error))
    except (MemoryError, RecursionError):
        say(error="it takes more memory than it may")
    except Exception as error:
        say(error=describe(error))
    os._exit(0)


def _resolve(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _read_source(announced: dict[str, Any], source: int) -> tuple[str, bytes]:
    """The rules' text, and the product of the stage before."""
    with open(source, "rb") as file:
        file.seek(0)
        data = file.read()
    rules = announced["rules"]
    if len(data) != rules + announced["previous"] or hashlib.sha256(data).hexdigest() != announced["sha256"]:
        raise ValueError("the builder was not given what was announced")
    return data[:rules].decode(), data[rules:]


def _die_first() -> None:
    """If the computer runs out of memory, let the system kill this process first."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _end_with_the_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
