"""Looks up the known vulnerabilities of what lock files name, by pip-audit.

Exit status: 0 none is known, or no database could be reached, which is said; 1 some are known. A database
that answers but knows hardly any of our packages is none: a mirror, say, that has files and no advisories.

    python .ci/audit.py LOCK...
"""

from __future__ import annotations

import json
import subprocess
import sys

_LEAST_KNOWN = 0.9
"""Share of the packages that a database must know."""
_SECONDS = 120.0


def verdict(report: str) -> tuple[int, list[str]]:
    """Exit status and lines for people, for what pip-audit wrote as JSON; nothing is an audit that failed."""
    try:
        packages = json.loads(report)["dependencies"]
    except ValueError:
        return 0, ["audit skipped: no database of vulnerabilities can be reached"]
    known = [package for package in packages if "skip_reason" not in package]
    lines = [
        f"{package['name']} {package['version']}: {fault['id']}, mended in "
        + (", ".join(fault.get("fix_versions", [])) or "no release yet")
        for package in known
        for fault in package.get("vulns", [])
    ]
    if lines:
        return 1, [*lines, f"{len(lines)} known vulnerabilities: raise the versions (make lock)"]
    if len(known) < _LEAST_KNOWN * len(packages) or not packages:
        return 0, [f"audit skipped: the database knows {len(known)} of {len(packages)} packages"]
    return 0, [f"no known vulnerabilities in {len(known)} of {len(packages)} packages"]


def main(locks: list[str]) -> int:
    """Audit these files together."""
    worst = 0
    for lock in locks:
        options = ["--disable-pip", "--require-hashes", "--progress-spinner=off", "--format=json", "-r", lock]
        command = [sys.executable, "-m", "pip_audit", *options]
        try:
            report = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS).stdout
        except subprocess.TimeoutExpired:
            report = ""
        status, lines = verdict(report)
        print(*(f"{lock}: {line}" for line in lines), sep="\n")
        worst = max(worst, status)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
