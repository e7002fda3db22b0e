"""A process that plays for a training: ``python -m players.uct.training.play_process SOCKET TASK``, both
inherited descriptors.

The task, a file, holds the machine and the terms. Values come from the socket, what was played by them goes
there. It ends at once when the other end of the socket is closed.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from multiprocessing.connection import Connection

import numpy as np

from players.processes.ending import end_with
from players.uct.training.play_terms import STEPS, play_and_tell
from players.uct.training.searched_play import SearchedPlay


def main() -> None:
    """Play until the training is over."""
    socket, task = (int(argument) for argument in sys.argv[1:])
    end_with(socket)
    with os.fdopen(task, "rb") as file:
        file.seek(0)
        machine, terms, seed, derived = pickle.load(file)
    rng, pipe = np.random.default_rng(seed), Connection(socket)
    with contextlib.suppress(EOFError, OSError):
        values = pipe.recv()
        values.derived = derived
        play = SearchedPlay(machine, values, terms.lanes, terms.visits, terms.explored, rng)
        while True:
            pipe.send(play_and_tell(play, STEPS, rng))
            values.take(pipe.recv())


if __name__ == "__main__":
    main()
