"""A scratch directory: one process owns it, and a manifest lists its complete files.

The manifest is replaced atomically (:mod:`gdl.writing`), so a killed process leaves either the old one or the
new one. Files that it does not name are leftovers, removed when the directory is opened.
"""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path
from typing import Any

from gdl import writing
from gdl.errors import GdlError
from gdl.json_schema import FLAG, check_json, matching, record, rows, whole
from gdl.reading import read_limited
from gdl.writing import NEW, digest_of, replace_file, unsealed
from players.sorted_sets.files import ScratchError, damaged, os_errors, remove

LOCK, MANIFEST, RULES = "ggp-frontier.lock", "manifest.json", "rules.kif"
SUFFIX = ".blob"
FORMAT = "ggp frontier search"
VERSION = 2
_MOST_MANIFEST = 1 << 30
MOST_RULES = 64 << 20
"""The most bytes of a file."""
NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
"""The names of blobs: file names without a folder."""
_BLOB = record(
    name=matching(NAME),
    cold=FLAG,
    file=matching(NAME + re.escape(SUFFIX)),
    sizes=rows(whole(0, 1 << 30)),
    checks=rows(whole(0, (1 << 32) - 1)),
)
_BODY = record(rules=matching("[0-9a-f]{32}"), serial=whole(), state={"type": "object"}, blobs=rows(_BLOB))


class ScratchDirectory:
    """A directory that belongs to this object until :meth:`close`.

    Arguments: path: the directory; created if missing. rules: the text of the rules that the search is for.
        resume: whether to resume the search there; otherwise the directory must be empty.

    Raises:
        ScratchError: another process works there; the files are not ours, damaged, or of other rules; there
            is nothing to resume; or there are files although ``resume`` is False.
    """

    def __init__(self, path: Path, rules: str, resume: bool) -> None:
        self.path = path
        self._rules = digest_of(rules.encode())
        with os_errors(path, "use"):
            if not resume:
                path.mkdir(parents=True, exist_ok=True)
            present = {entry.name for entry in os.scandir(path)}
        if LOCK not in present and (present or resume):
            raise ScratchError(
                f"{path} is not a scratch directory of a search",
                remedy="name one that a search began in" if resume else "name an empty or a new directory",
            )
        self._lock = _take(path / LOCK)
        try:
            self.manifest = self._open(rules, resume)
        except BaseException:
            self.close()
            raise

    def _open(self, rules: str, resume: bool) -> dict[str, Any] | None:
        """Return the body of the manifest; None in a new directory."""
        manifest = self.path / MANIFEST
        if not resume and os.path.exists(manifest):
            raise ScratchError(
                f"{self.path} holds a search that is not over",
                remedy="resume it, or remove the directory",
            )
        body = None
        if resume:
            body = read_manifest(self.path)
            if body["rules"] != self._rules:
                raise ScratchError(
                    f"the search in {self.path} is of other rules", remedy="give the game that it began with"
                )
        named = {blob["file"] for blob in body["blobs"] if blob["file"]} if body else set()
        for entry in os.scandir(self.path):
            if _is_half_written(entry.name) or (entry.name.endswith(SUFFIX) and entry.name not in named):
                remove(self.path / entry.name)
        if body is None:
            with os_errors(self.path / RULES, "write"):
                replace_file(self.path / RULES, rules.encode())
        return body

    def commit(self, body: dict[str, Any]) -> None:
        """Replace the manifest. ``body`` is JSON, with a list ``blobs`` of objects that name a ``file``."""
        with os_errors(self.path / MANIFEST, "write"):
            replace_file(self.path / MANIFEST, sealed({**body, "rules": self._rules}))

    def clear(self) -> None:
        """Remove all files of a search; other files stay."""
        remove(self.path / MANIFEST)
        for entry in os.scandir(self.path):
            if entry.name == RULES or _is_half_written(entry.name) or entry.name.endswith(SUFFIX):
                remove(self.path / entry.name)

    def close(self) -> None:
        """Release the directory for others."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def sealed(body: dict[str, Any]) -> bytes:
    """Return the text of a manifest with this body."""
    return writing.sealed(body, format=FORMAT, version=VERSION)


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the body of a directory's manifest. Raises ScratchError if it is missing, damaged or of another
    version."""
    file = path / MANIFEST
    if not os.path.exists(file):
        raise ScratchError(
            f"nothing to resume in {path}", remedy="the search that began there has not finished a layer"
        )
    try:
        head, body = unsealed(read_limited(file, _MOST_MANIFEST))
        kind, version = head["format"], head["version"]
    except (ValueError, KeyError):
        raise damaged(file) from None
    if kind != FORMAT or version != VERSION:
        raise ScratchError(
            f"{file} has version {version} of the format, this program reads {VERSION}",
            remedy="remove the directory and start again",
        )
    try:
        check_json(body, _BODY, "body")
        assert isinstance(body, dict)
        for name in ("name", "file"):
            if len({blob[name] for blob in body["blobs"]}) < len(body["blobs"]):
                raise GdlError("two blobs have one name")
        if any(len(blob["sizes"]) != len(blob["checks"]) for blob in body["blobs"]):
            raise GdlError("a blob has not as many checks as blocks")
    except GdlError as error:
        raise damaged(file, error.message) from None
    return body


def has_commit(path: Path) -> bool:
    """Return whether a directory has a search to resume."""
    return (path / MANIFEST).exists()


def rules_of(path: Path) -> str:
    """Return the text of the rules that the search in a directory is for. Raises ScratchError as
    :func:`read_manifest` does."""
    body = read_manifest(path)
    file = path / RULES
    text = read_limited(file, MOST_RULES).decode(errors="replace")
    if digest_of(text.encode()) != body["rules"]:
        raise damaged(file)
    return text


def _is_half_written(name: str) -> bool:
    """Whether a file is a leftover of a killed process, of this release or an earlier one."""
    return name.startswith(NEW) or name == MANIFEST + ".new"


def _take(path: Path) -> int:
    """Lock a file until it is closed; its content is the process's number. Returns the open file."""
    with os_errors(path, "lock"):
        # O_NOFOLLOW: through a link, another file would be emptied.
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(file, 0)
            os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            owner = os.pread(file, 32, 0).decode(errors="replace").strip()
            os.close(file)
            raise ScratchError(
                f"process {owner or 'of another search'} works in {path.parent}",
                remedy="wait for it, or name another directory",
            ) from None
        except BaseException:
            os.close(file)
            raise
    return file
