"""Wrong words on the command line get one line in our words, whichever command they are for."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest

from ggp.cli import build, main, modules


def _numbers() -> Iterator[tuple[str, str]]:
    """Each option of a command that is a number."""
    for name, (_, plugin) in modules().items():
        command: Any = plugin.load()
        for option, hint in get_type_hints(command).items():
            if option in inspect.signature(command).parameters and {int, float} & {hint, *get_args(hint)}:
                yield name, option


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """What ``ggp`` prints to stderr for these words; it ends with status 2."""

    def say(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["ggp", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code, told.out) == (2, "")
        return told.err

    return say


@pytest.mark.parametrize(("command", "option"), sorted(_numbers()))
def test_numbers_are_finite_and_in_bounds(command: str, option: str, said: Any) -> None:
    known = next(c for c in _parameters(command) if c.name == option)
    word = max(known.opts, key=len)
    for value in ("nan", "inf", "-inf", "1e300", "-1e300", str(10**40), "", "x", "1" * 5000):
        line = said(command, f"{word}={value}")
        assert line.startswith(f"ggp: {word} must be a ") and " from " in line and line.count("\n") == 1
        assert len(line) < 200
    if option in ("workers", "processes", "jobs"):
        assert "must be a whole number" in said(command, word, str(10**9))


def _parameters(command: str) -> list[Any]:
    import typer.main

    return typer.main.get_command(build(command)).commands[command].params  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("host", "GAME is missing (see `ggp host --help`)"),
        ("host tictactoe", "--players is missing (see `ggp host --help`)"),
        (
            "host tictactoe -p a,b --clock 5,2.5",
            "--clock must be a whole number of seconds from 1 to 86400, or two, not '5,2.5'"
            " (write 5, or 10,5 with 10 seconds before the first move)",
        ),
        ("play tictactoe --clock", "--clock needs a value (see `ggp play --help`)"),
        ("play tictactoe --json=1", "--json takes no value (see `ggp play --help`)"),
        ("play tictactoe one two", "more words than arguments: one two (see `ggp play --help`)"),
        ("play tictactoe --nothing", "there is no option --nothing (see `ggp play --help`)"),
        ("plya", "there is no command 'plya' (did you mean play?)"),
        ("x\x1b[31m", "there is no command 'x\\x1b[31m' (see `ggp --help`)"),
        ("--nothing", "there is no option --nothing (see `ggp --help`)"),
    ],
)
def test_wrong_use_is_said_in_our_words(words: str, line: str, said: Any) -> None:
    assert said(*words.split(" ")) == f"ggp: {line}\n"
