"""A scratch directory: one process owns it, a manifest says what in it is whole.

The manifest is replaced at once (:mod:`gdl.writing`), so a process that is killed leaves the old one or the
new one. Files that it does not name are remains, and are removed when the directory is opened.
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
from players.puzzles.frontier.storage.files import ScratchError, damaged, remove, told

LOCK, MANIFEST, RULES = "ggp-frontier.lock", "manifest.json", "rules.kif"
SUFFIX = ".blob"
FORMAT = "ggp frontier search"
VERSION = 1
_MOST_MANIFEST = 1 << 30
MOST_RULES = 64 << 20
"""Bytes of files."""
NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
"""What blobs are called: names of files without a folder."""
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

    Arguments:
        path: the directory; made if it is not there.
        rules: the text of the rules that the search is for.
        resume: whether to go on with what is there; else nothing may be.

    Raises:
        ScratchError: another process works there, the files are not ours, are damaged, are of other rules;
            or there is nothing to resume, or something although nothing is to be resumed.
    """

    def __init__(self, path: Path, rules: str, resume: bool) -> None:
        self.path = path
        self._rules = digest_of(rules.encode())
        with told(path, "use"):
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
        """The body of the manifest; None in a new directory."""
        manifest = self.path / MANIFEST
        if not resume and os.path.exists(manifest):
            raise ScratchError(
                f"{self.path} holds a search that is not over",
                remedy=f"--resume {self.path} goes on with it; or remove the directory",
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
            with told(self.path / RULES, "write"):
                replace_file(self.path / RULES, rules.encode())
        return body

    def commit(self, body: dict[str, Any]) -> None:
        """Replace the manifest. ``body`` is JSON, with a list ``blobs`` of objects that name a ``file``."""
        with told(self.path / MANIFEST, "write"):
            replace_file(self.path / MANIFEST, sealed({**body, "rules": self._rules}))

    def clear(self) -> None:
        """Remove all that a search keeps there; what others put there stays."""
        remove(self.path / MANIFEST)
        for entry in os.scandir(self.path):
            if entry.name == RULES or _is_half_written(entry.name) or entry.name.endswith(SUFFIX):
                remove(self.path / entry.name)

    def close(self) -> None:
        """Let others use the directory."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def sealed(body: dict[str, Any]) -> bytes:
    """The text of a manifest with this body."""
    return writing.sealed(body, format=FORMAT, version=VERSION)


def read_manifest(path: Path) -> dict[str, Any]:
    """The body of a directory's manifest. Raises ScratchError where there is none, or it is damaged or of
    another version."""
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
            remedy="remove the directory and start anew",
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
    """Whether there is something to resume in a directory."""
    return (path / MANIFEST).exists()


def rules_of(path: Path) -> str:
    """The text of the rules that the search in a directory is for. Raises ScratchError as
    :func:`read_manifest` does."""
    body = read_manifest(path)
    file = path / RULES
    text = read_limited(file, MOST_RULES).decode(errors="replace")
    if digest_of(text.encode()) != body["rules"]:
        raise damaged(file)
    return text


def _is_half_written(name: str) -> bool:
    """Whether a file is what a killed process leaves, here or in an earlier release."""
    return name.startswith(NEW) or name == MANIFEST + ".new"


def _take(path: Path) -> int:
    """Lock a file until it is closed; its content is the process's number."""
    with told(path, "lock"):
        # A link would have another file emptied.
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
