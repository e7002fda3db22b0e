#!/usr/bin/env python3
"""Follows README.md word for word: every block, in order, in one shell, from a clean checkout.

``python3 .ci/follow_readme.py`` clones the last commit into a new folder and follows its README there. With
``--here`` the checkout that it lies in is used: CI has nothing but a clean clone, and needs the installation
afterwards. Either way the home folder is empty, and so is the environment, save PATH, the language, and what
pip, the network and numba's cache of an earlier run need.

Blocks marked ``sh`` are typed into one bash, whose standard input counts to 99 for ever: answers to a
person's prompt, whose moves keep their numbers. A Python block that begins with ``# NAME.py`` becomes that
file, any other is run. A command that fails ends it; so does LIMIT seconds. Files that the blocks have made
are removed, and no process may be left.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 600
"""Seconds for all blocks, installation included."""
PATIENCE = 10.0
"""Seconds that a process in the background may take to end after the last block."""
LOOKS = 6
"""How often it looks for processes, at least, before there are none."""
SHOWN = 40
"""Lines of output that are shown where a command has failed."""
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# (\w+\.py)\n")
KEPT = re.compile(
    r"PATH|LANG|LC_\w+|TERM|TZ|\w+_proxy|\w+_PROXY|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|PIP_\w+|NUMBA_CACHE_DIR"
)
MARK = "FOLLOWS_README"
"""In the environment of every process that the blocks start, and so the way to find them."""


def script(readme: str) -> str:
    """All blocks as one script for bash, which tells each line on descriptor 3 before it is run."""
    lines = ["set -emo pipefail"]
    for number, (language, text) in enumerate(FENCE.findall(readme), 1):
        file = FILE.match(text)
        lines.append(f'echo "block {number} ({language}), after $SECONDS s" >&3')
        if language == "python":
            target = f"cat > {file[1]}" if file else "python -"
            lines.append(f"{target} <<'END OF BLOCK'\n{text}END OF BLOCK")
        elif language == "sh":
            for line in filter(str.strip, text.splitlines()):
                lines += [f"echo {shlex.quote('$ ' + line)} >&3", line]
        else:
            raise SystemExit(
                f"README.md: block {number} is neither sh nor python: {language or 'no language'}"
            )
    return "\n".join(lines) + "\n"


def untracked(folder: Path) -> set[str]:
    """Files that git neither knows nor ignores."""
    command = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    return set(filter(None, listed.split("\0")))


def marked(token: str) -> set[int]:
    """The processes that the blocks have started and that are still there. It looks several times: between
    fork and exec a process may seem to have no environment."""
    found: set[int] = set()
    for _ in range(LOOKS):
        found |= _marked_now(f"{MARK}={token}".encode())
        time.sleep(0.05)
    return found


def _marked_now(needle: bytes) -> set[int]:
    found = set()
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        try:
            if entry.name.isdigit() and needle in (entry / "environ").read_bytes().split(b"\0"):
                found.add(int(entry.name))
        except OSError:  # it has gone, or is not ours
            continue
    return found


def bare_environment(home: Path, token: str) -> dict[str, str]:
    """What the blocks find in their environment."""
    kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    for name, path in (("PIP_CACHE_DIR", ".cache/pip"), ("PIP_CONFIG_FILE", ".config/pip/pip.conf")):
        if (Path.home() / path).exists():
            kept.setdefault(name, str(Path.home() / path))
    return kept | {"HOME": str(home), MARK: token}


def follow(folder: Path, home: Path, limit: float = LIMIT) -> str:
    """Follow the README of a folder; what went wrong, or nothing."""
    token = f"{os.getpid()}.{time.time_ns()}"
    blocks, output = home.with_name("blocks.sh"), home.with_name("output")
    blocks.write_text(script((folder / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
    before = untracked(folder)
    wrong = ""
    with subprocess.Popen(["bash", "-c", "while seq 99; do :; done"], stdout=subprocess.PIPE) as person:
        shell = subprocess.Popen(
            ["bash", "-c", '. "$0" 3>&2 >"$1" 2>&1', str(blocks), str(output)],
            cwd=folder,
            env=bare_environment(home, token),
            stdin=person.stdout,
            start_new_session=True,
        )
        try:
            if status := shell.wait(limit):
                wrong = f"the last command ended with status {status}"
            deadline = time.monotonic() + PATIENCE
            while (left := marked(token)) and not wrong and time.monotonic() < deadline:
                time.sleep(0.2)
            if left and not wrong:
                wrong = f"{len(left)} processes were left behind"
        except subprocess.TimeoutExpired:
            wrong = f"the last command was not over after {limit} s"
        finally:
            person.kill()
            while left := marked(token):
                for pid in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(0.05)
            for name in untracked(folder) - before:
                (folder / name).unlink()
    if wrong:
        said = output.read_text(encoding="utf-8", errors="replace").splitlines()
        print(*said[-SHOWN:], sep="\n", file=sys.stderr)
    return wrong


def main() -> None:
    """Follow it, and say how long that took."""
    root = Path(__file__).resolve().parents[1]
    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("README.md: ended from outside"))
    with tempfile.TemporaryDirectory(prefix="follow-readme.") as name:
        home = Path(name, "home")
        home.mkdir()
        folder = root
        if "--here" not in sys.argv[1:]:
            folder = Path(name, "clone")
            subprocess.run(["git", "clone", "--quiet", str(root), str(folder)], check=True)
        wrong = follow(folder, home)
    print(f"README.md: {wrong or 'every block runs'}, {time.monotonic() - began:.0f} s", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
