"""What fork servers of the tests warm up with, and what their children run."""

from __future__ import annotations

import os
import socket
import sys
import time

from players.processes import launch

warmed: list[str] = []


def warm_up(*words: str) -> None:
    warmed.extend(words)


def broken() -> None:
    raise ZeroDivisionError("no warm-up here")


def main() -> None:
    """``say FILE``, ``exit NUMBER``, ``echo`` (from standard input), ``sleep``, ``launch`` (another one); or
    ``SOCKET FILE WORD``, which sends what the file holds, and the word."""
    what, *rest = sys.argv[1:]
    if what.isdigit():
        with socket.socket(fileno=int(what)) as connection:
            connection.sendall(os.pread(int(rest[0]), 1000, 0) + rest[1].encode())
        return
    match what:
        case "say":
            words = [sys.argv[0], *warmed, str(launch.warm), str(os.getsid(0) == os.getpid())]
            os.write(int(rest[0]), " ".join(words).encode())
        case "exit":
            sys.exit(int(rest[0]))
        case "fail":
            raise ZeroDivisionError("this job is broken")
        case "files":
            print(sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1])
        case "echo":
            for line in sys.stdin:
                print(line.upper(), end="", flush=True)
        case "sleep":
            time.sleep(3600)
        case "parent":
            # As a new interpreter this module's name is another one.
            launch.launch("tests.players.processes.fork_jobs", ["sleep"], session=True).wait()
        case "launch":
            child = launch.launch(__name__, ["exit", rest[0]])
            sys.exit(child.wait())


if __name__ == "__main__":
    main()
