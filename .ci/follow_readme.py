#!/usr/bin/env python3
"""Follows README.md word for word: every block, in order, in one shell, from a clean checkout.

``python3 .ci/follow_readme.py`` clones the last commit into a new folder and follows its README there; with
``--here`` the checkout that it lies in is used, where CI has nothing but a clean clone and needs the
installation afterwards. Either way the home folder is empty and so is the environment, save PATH, the
language and what a network may need (proxies, certificates, pip's settings).

Blocks marked ``sh`` are typed into one bash, whose standard input counts to 99 for ever: answers to a
person's prompt, whose moves keep their numbers. A Python block that begins with ``# NAME.py`` becomes that
file, any other is run. A command that fails ends it; so does LIMIT seconds. Files that the blocks have made
are removed, and no process may be left.
"""

from __future__ import annotations

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
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# (\w+\.py)\n")
KEPT = re.compile(r"PATH|LANG|LC_\w+|TERM|TZ|\w+_proxy|\w+_PROXY|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|PIP_\w+")
MARK = "FOLLOWS_README"
"""In the environment of every process that the blocks start, and so the way to find them."""


def script(readme: str) -> str:
    """All blocks as one script for bash, which tells each line before it is run."""
    lines = ["set -emo pipefail"]
    for number, (language, text) in enumerate(FENCE.findall(readme), 1):
        file = FILE.match(text)
        lines.append(f"echo '=== block {number} ({language})' >&2")
        if language == "python":
            target = f"cat > {file[1]}" if file else "python -"
            lines.append(f"{target} <<'END OF BLOCK'\n{text}END OF BLOCK")
        elif language == "sh":
            for line in text.splitlines():
                lines += [f"echo {shlex.quote('$ ' + line)} >&2", line] if line.strip() else []
        else:
            sys.exit(f"README.md: a block is marked {language or 'with nothing'}: only sh and python are run")
    return "\n".join(lines) + "\n"


def untracked(folder: Path) -> set[str]:
    """Files that git neither knows nor ignores."""
    listed = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    return set(
        subprocess.run(listed, cwd=folder, capture_output=True, text=True, check=True).stdout.split("\0")
    )


def marked(token: str) -> list[int]:
    """The processes that the blocks have started and that are still there."""
    needle = f"{MARK}={token}".encode()
    found = []
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        try:
            if entry.name.isdigit() and needle in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:  # it has gone, or is not ours
            continue
    return found


def follow(folder: Path, home: Path) -> str:
    """Follow the README of a folder; what went wrong, or nothing."""
    token = f"{os.getpid()}.{time.time_ns()}"
    environment = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    environment |= {"HOME": str(home), MARK: token}
    text = home / "blocks.sh"
    text.write_text(script((folder / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
    before = untracked(folder)
    with subprocess.Popen(["bash", "-c", "while seq 99; do :; done"], stdout=subprocess.PIPE) as person:
        shell = subprocess.Popen(
            ["bash", str(text)], cwd=folder, env=environment, stdin=person.stdout, start_new_session=True
        )
        try:
            status = shell.wait(LIMIT)
            wrong = f"the command above ended with status {status}" if status else ""
        except subprocess.TimeoutExpired:
            wrong = f"the command above was not over after {LIMIT} s"
        finally:
            person.kill()
            deadline = time.monotonic() + 10
            while (left := marked(token)) and not shell.poll() and time.monotonic() < deadline:
                time.sleep(0.2)  # a server that was told to end may take a moment
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            for name in untracked(folder) - before:
                (folder / name).unlink()
    return wrong or (f"processes were left behind: {left}" if left else "")


def main() -> None:
    """Follow it, and say how long that took."""
    root = Path(__file__).resolve().parents[1]
    began = time.monotonic()
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
