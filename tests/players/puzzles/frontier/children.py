"""Work in a child process that is forked, so that it begins at once with everything loaded."""

from __future__ import annotations

import json
import os
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any


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

    def kill(self, seconds: float, how: signal.Signals = signal.SIGKILL) -> Any:
        """End it after so many seconds; what it has told by then, None for nothing."""
        time.sleep(seconds)
        os.kill(self.number, how)
        return self.outcome()

    def outcome(self) -> Any:
        """What it tells; None if it was killed."""
        with open(self._pipe, "rb") as file:
            said = file.read()
        _, status = os.waitpid(self.number, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the child failed: see what it printed"
        return json.loads(said) if said else None
