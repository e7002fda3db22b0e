"""The instructions of a Dockerfile, as far as ours uses them."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path

KNOWN = frozenset(
    ("FROM", "WORKDIR", "COPY", "RUN", "ENV", "ARG", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD")
)


@dataclass(slots=True)
class Stage:
    """What one FROM begins.

    Attributes:
        name: as others copy from it; "" for none.
        steps: instructions and their arguments, in order.
    """

    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def last(self, instruction: str) -> str:
        """The arguments of the last such instruction. Raises ValueError for none."""
        for name, arguments in reversed(self.steps):
            if name == instruction:
                return arguments
        raise ValueError(f"the Dockerfile has no {instruction}")

    def command(self, instruction: str) -> list[str]:
        """The words of the last such instruction, which is in JSON; options before the words are left out."""
        text = self.last(instruction)
        words: list[str] = json.loads(text[text.index("[") :])
        return words


def stages(path: Path) -> list[Stage]:
    """The stages of a Dockerfile. Raises ValueError for an instruction that is not known here: what is not
    run must not count as shown."""
    found: list[Stage] = []
    lines = [
        line for line in path.read_text().splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]
    text = "\n".join(lines).replace("\\\n", " ")
    for line in text.splitlines():
        name, _, arguments = line.strip().partition(" ")
        if name not in KNOWN:
            raise ValueError(f"{path}: {name} is not known here")
        if name == "FROM":
            words = arguments.split()
            found.append(Stage(words[2] if len(words) == 3 else ""))
        elif found:
            found[-1].steps.append((name, arguments.strip()))
    return found


def assignments(text: str) -> dict[str, str]:
    """The variables of an ENV instruction."""
    return dict(word.split("=", 1) for word in shlex.split(text))
