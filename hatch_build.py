"""What PyPI shows of us, made when a distribution is built: README.md with links that work, and addresses.

README's links are relative, for readers of the repository. On PyPI they would lead nowhere: they become
absolute where the repository's address is known (``home`` in pyproject.toml, ``$KASKADE_HOME``), else text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def for_pypi(text: str, home: str) -> str:
    """Markdown with its relative links made absolute below ``home``; without a home only their text."""

    def absolute(link: re.Match[str]) -> str:
        image, words, target = link.groups()
        if not home:
            return words
        return f"{image}[{words}]({home.rstrip('/')}/{'raw' if image else 'blob'}/HEAD/{target})"

    return _LINK.sub(absolute, text)


class ReadmeAndUrls(MetadataHookInterface):
    """Fills in ``readme`` and ``urls``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set both fields; no address is claimed that is not known."""
        home = os.environ.get("KASKADE_HOME", self.config.get("home", ""))
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_pypi(text, home)}
        places = {
            "Homepage": "",
            "Documentation": "/tree/HEAD/docs",
            "Source": "",
            "Issues": "/issues",
            "Changelog": "/blob/HEAD/CHANGELOG.md",
        }
        metadata["urls"] = {name: home.rstrip("/") + place for name, place in places.items()} if home else {}
