"""How many connections does the server answer a second, beside the one of another checkout?

    python -m bench.soak.connections --beside ../before --rounds 5

Each connection is new and carries one message, as game managers do it: INFO, or a PLAY that is refused. The
servers are asked in turn, so that both have the same company on the computer. Processor seconds of the
server's process are what counts; what a wall-clock second brings depends on who else computes.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.processes import cpu_seconds
from bench.scripts import arguments
from bench.serving import ROOT, ServerProcess, post, send

MESSAGES = {"info": b"( INFO )", "busy": b"( PLAY nobody NIL )"}


@dataclass
class Measured:
    """What one server took: ``cpu`` microseconds for a connection, ``rates`` connections in a wall-clock
    second, one number for each round."""

    cpu: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)


def serving(checkout: Path = ROOT) -> ServerProcess:
    """A server of a checkout that answers at once."""
    return ServerProcess("--player", "legal", "--machine", "prover", checkout=checkout)


def ask(server: ServerProcess, message: bytes, count: int, at_once: int, measured: Measured) -> None:
    """One round."""
    data = post(message)

    def one_after_another() -> None:
        for _ in range(count // at_once):
            if not send(server.port, data).startswith(b"HTTP/1.0 200 "):
                raise SystemExit("a message was not answered")

    cpu, began = cpu_seconds(server.pid), time.monotonic()
    threads = [threading.Thread(target=one_after_another) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked = count // at_once * at_once
    measured.cpu.append((cpu_seconds(server.pid) - cpu) / asked * 1e6)
    measured.rates.append(asked / (time.monotonic() - began))


def main() -> int:
    """Run as a script."""
    parser = arguments(__doc__)
    parser.add_argument("--beside", type=Path, help="another checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=2000, help="connections in a round")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--message", choices=MESSAGES, default="info")
    options = parser.parse_args()
    checkouts = [ROOT] + ([options.beside.resolve()] if options.beside else [])
    found = [Measured() for _ in checkouts]
    with serving(checkouts[0]) as ours, serving(checkouts[-1]) as theirs:
        time.sleep(2)  # spare processes start beside
        for _ in range(options.rounds + 1):
            for server, measured in zip((ours, theirs), found, strict=False):
                message = MESSAGES[options.message]
                ask(server, message, options.count, options.at_once, measured)
    for checkout, measured in zip(checkouts, found, strict=True):
        cpu, rates = measured.cpu[1:], measured.rates[1:]  # the first round warms up
        print(
            f"{checkout.name}: {statistics.median(cpu):.0f} us CPU a connection"
            f" ({min(cpu):.0f} to {max(cpu):.0f}), {statistics.median(rates):.0f} a second"
            f" ({min(rates):.0f} to {max(rates):.0f})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
