"""Threads that each work off a generator, or one generator in the caller's own thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

_LOOK_SECONDS = 0.05


class Crew:
    """So many workers. Kernels let go of the interpreter's lock, so threads suffice."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = ThreadPoolExecutor(workers, "frontier") if workers > 1 else None

    def run(self, jobs: Sequence[Iterator[None]]) -> Iterator[None]:
        """Work off one job for each worker; yields now and then, so that the caller sees to its clock. When
        the caller gives up (``close``) the jobs end at their next ``yield``."""
        if self._pool is None:
            for job in jobs:
                yield from job
            return
        stop = threading.Event()
        futures = {self._pool.submit(_work_off, job, stop) for job in jobs}
        waiting = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, _LOOK_SECONDS, FIRST_COMPLETED)
                for future in done:
                    future.result()
                yield
        finally:
            stop.set()
            wait(futures)

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()


def _work_off(job: Iterator[None], stop: threading.Event) -> None:
    for _ in job:
        if stop.is_set():
            return
