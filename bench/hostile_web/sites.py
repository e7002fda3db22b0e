"""Pages of other sites, and names that lead to this computer without being its own."""

from __future__ import annotations

import tempfile
from collections import Counter

from bench.hostile_web.attack import Attack, Verdict, get_request, status_of, victim
from bench.hostile_web.mutated import GETS

MOZILLA = "User-Agent: Mozilla/5.0"
PARTS = (("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe"))
PAGES = ("/", "/play", "/watch", "/replay", "/tournaments", "/puzzles", "/rules")
STRANGE = ("rebound.example", "rebound.example:80", "localhost.rebound.example", "127.0.0.1.rebound.example")


def other_sites(count: int, seed: int) -> Verdict:
    """Every GET as a picture, a script, a frame and data of a page elsewhere; links to pages."""
    verdict, statuses = Verdict(), Counter[int]()
    with tempfile.TemporaryDirectory() as folder, victim("web", "--records", folder) as server:
        for path in GETS:
            for site in ("cross-site", "same-site"):
                for mode, dest in PARTS:
                    fetched = (
                        f"Sec-Fetch-Site: {site}",
                        f"Sec-Fetch-Mode: {mode}",
                        f"Sec-Fetch-Dest: {dest}",
                    )
                    status = status_of(server.talk(get_request(path, "localhost", MOZILLA, *fetched)))
                    statuses[status] += 1
                    verdict.expect(status == 403, f"{path} as {dest} of a {site} page: {status}")
            if path.partition("?")[0] not in PAGES and "/static/" not in path and "TABLE" not in path:
                if path.startswith("/puzzles/x"):
                    continue  # a page or a part of one that is not there
                status = status_of(server.talk(get_request(path, "192.0.2.1:8080", MOZILLA)))
                statuses[status] += 1
                verdict.expect(status == 403, f"{path} in a local network, for a page elsewhere: {status}")
        for path in PAGES:
            led = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
            status = status_of(server.talk(get_request(path, "localhost", MOZILLA, *led)))
            statuses[status] += 1
            verdict.expect(status == 200, f"a link to {path}: {status}")
    verdict.figures = ", ".join(f"{status}: {number}" for status, number in sorted(statuses.items()))
    return verdict


def rebound_names(count: int, seed: int) -> Verdict:
    """Every GET under a name that is not ours, on the loopback and on all addresses."""
    verdict, statuses = Verdict(), Counter[int]()
    for host in ("127.0.0.1", "0.0.0.0"):
        with victim("web", "--host", host, "--allow-host", "play.example") as server:
            for name in STRANGE:
                for path in GETS:
                    for headers in ((), (MOZILLA,), (MOZILLA, "Sec-Fetch-Site: same-origin")):
                        status = status_of(server.talk(get_request(path, name, *headers)))
                        statuses[status] += 1
                        verdict.expect(status == 403, f"{path} as {name} on {host}: {status}")
            for name in ("play.example", "localhost", "127.0.0.1", "192.0.2.1"):
                status = status_of(server.talk(get_request("/", name, MOZILLA)))
                statuses[status] += 1
                verdict.expect(status == 200, f"/ as {name} on {host}: {status}")
    verdict.figures = ", ".join(f"{status}: {number}" for status, number in sorted(statuses.items()))
    return verdict


ATTACKS = (Attack("pages of other sites", other_sites), Attack("rebound names", rebound_names))
