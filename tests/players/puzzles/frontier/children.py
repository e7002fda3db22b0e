"""Work in a child process that is forked, so that it begins at once with everything loaded."""

from __future__ import annotations

import json
import os
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any


def cpu_clock(process: int) -> int:
    """The clock of a process's CPU seconds, as Linux numbers them (clock_getcpuclockid)."""
    return ~process << 3 | 2


class Child:
    """A child process that does something, and tells what came of it as JSON."""

    def __init__(self, work: Callable[[], Any]) -> None:
        reading, writing = os.pipe()
        self._pipe = reading
        self.number = os.fork()
        if self.number == 0:
            code = 1
            try:
                os.close(reading)
                said = json.dumps(work()).encode()
                while said:
                    said = said[os.write(writing, said) :]
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writing)

    def kill(self, seconds: float) -> Any:
        """End it when it has worked so many CPU seconds more; what it has told by then, None for nothing."""
        watch = cpu_clock(self.number)
        until = time.clock_gettime(watch) + seconds
        while time.clock_gettime(watch) < until and not self.ended():
            time.sleep(0.005)
        os.kill(self.number, signal.SIGKILL)
        return self.outcome()

    def ended(self) -> bool:
        """Whether it has come to its end."""
        return os.waitid(os.P_PID, self.number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def outcome(self) -> Any:
        """What it tells; None if it was killed."""
        with open(self._pipe, "rb") as file:
            said = file.read()
        _, status = os.waitpid(self.number, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the child failed: see what it printed"
        return json.loads(said) if said else None
