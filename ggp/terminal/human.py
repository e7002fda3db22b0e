"""A person as a player: reads a legal move as a number or a name, with editing and completion.

A move may be typed as lists show it, ``Nf3`` or ``bid two fives``, or as ``e2e4``, ``e 2 e 4``, ``e4`` if
only one move fits, ``d`` for a column, ``up``, ``uul`` for three steps. Several readings are tried, the
strictest first. The first reading that fits any legal move decides.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from gdl.errors import GdlError
from gdl.machine import State
from gdl.syntax.writer import OwnNotation
from gdl.terms import Term
from gdl.words import counted
from ggp import printing
from ggp.boards.spoken.words import MoveWords
from players.match import Quit, Undo
from players.player import Choice, Player

if TYPE_CHECKING:
    from players.belief.belief import Belief


_BETWEEN = re.compile(r"[\s(),'/>-]+")
"""The characters between the words of a move, which may be left out."""
Reading = Callable[[list[str], list[str], str], bool]
"""Whether the words of a move fit the typed text. Arguments: the move's words, the typed words, and the typed
words glued together."""


def words_of(text: str) -> list[str]:
    """The words of a move, or of the typed text, in small letters."""
    return re.findall(r"[^\s(),']+", text.lower())


def matching(text: str, names: Sequence[str], numbers: Sequence[int] | None = None) -> list[int]:
    """The indices of the moves that the text may mean: by number (from 1 unless ``numbers`` is given), or by
    the words of the move."""
    if text.isdecimal() and len(text) < 10:
        number = int(text)
        numbers = range(1, len(names) + 1) if numbers is None else numbers
        if number in numbers:
            return [numbers.index(number)]
    typed, glued = words_of(text), _glue(text)
    if not typed:
        return []
    named = [words_of(name) for name in names]
    for reading in _READINGS if glued else _READINGS[:1]:
        fitting = [i for i, words in enumerate(named) if reading(words, typed, glued)]
        if fitting:
            return fitting
    return []


def as_shown(text: str, texts: Sequence[str]) -> list[int]:
    """The indices of the moves that lists show as this text; capitals matter only where they distinguish
    moves, as in ``bxc3`` and ``Bxc3``. A number is none."""
    typed = " ".join(text.split())
    if typed.isdecimal():
        return []
    exact = [i for i, shown in enumerate(texts) if shown == typed]
    return exact or [i for i, shown in enumerate(texts) if shown.lower() == typed.lower()]


def steps_of(text: str, moves: Sequence[str], known: Sequence[str]) -> list[str]:
    """The single steps of a text for several, such as ``uul`` or ``up up left``: words for one move each.
    Empty if the text does not have this form.

    Args:
        moves: the moves that are legal now; the first step has to fit one of them.
        known: all moves that have been seen.
    """
    typed = words_of(text)
    steps = list(typed[0]) if len(typed) == 1 else typed
    if len(steps) < 2:
        return []
    ends = {words[-1] for words in map(words_of, (*moves, *known)) if words}
    if not all(any(end.startswith(step) for end in ends) for step in steps):
        return []
    return steps if len(_fitting_step(steps[0], moves)) == 1 else []


def _fitting_step(step: str, moves: Sequence[str]) -> list[int]:
    """The indices of the moves whose last word is the step, or begins with it."""
    last = [(words_of(name) or [""])[-1] for name in moves]
    exact = [i for i, word in enumerate(last) if word == step]
    return exact or [i for i, word in enumerate(last) if word.startswith(step)]


def _glue(text: str) -> str:
    return _BETWEEN.sub("", text.lower())


def _glued(words: list[str]) -> Iterator[str]:
    """Words glued together; squares of a number and a letter also in reverse, as lists of moves show them."""
    yield _glue("".join(words))
    turned = list(words)
    i = 0
    while i + 1 < len(turned):
        if turned[i].isdecimal() and len(turned[i + 1]) == 1 and turned[i + 1].isalpha():
            turned[i : i + 2] = turned[i + 1], turned[i]
            i += 1
        i += 1
    yield _glue("".join(turned))


def _in_full(words: list[str], wanted: list[str], glued: str) -> bool:
    return words == wanted


def _in_one(words: list[str], wanted: list[str], glued: str) -> bool:
    return glued in _glued(words) or (len(words) > 1 and glued in _glued(words[1:]))


def _by_beginning(words: list[str], wanted: list[str], glued: str) -> bool:
    return len(wanted) <= len(words) and all(map(str.startswith, words, wanted))


def _by_last_words(words: list[str], wanted: list[str], glued: str) -> bool:
    return any(glued in _glued(words[i:]) for i in range(2, len(words)))


def _by_first_words(words: list[str], wanted: list[str], glued: str) -> bool:
    return any(glued in _glued(words[1:i]) for i in range(2, len(words)))


def _by_words_between(words: list[str], wanted: list[str], glued: str) -> bool:
    ends = range(3, len(words))
    return any(glued in _glued(words[i:end]) for end in ends for i in range(2, end))


def _by_beginning_of_the_last(words: list[str], wanted: list[str], glued: str) -> bool:
    return bool(words) and words[-1].startswith(glued)


_READINGS: tuple[Reading, ...] = (
    _in_full,
    _in_one,
    _by_beginning,
    _by_last_words,
    _by_first_words,
    _by_words_between,
    _by_beginning_of_the_last,
)


class LineEditor:
    """Reads lines. In a terminal the arrow keys edit the line and bring back earlier ones, and Tab completes
    it to one of ``words``. Otherwise, or in a Python without readline, lines are read as they are."""

    def __init__(self) -> None:
        self.words: Sequence[str] = ()
        self._readline: ModuleType | None = None

    def __call__(self, prompt: str) -> str:
        """Print a prompt and read a line. Raises EOFError at the end of input."""
        if sys.stdin is None:
            raise GdlError("standard input is closed", remedy="people type their moves there")
        if self._readline is None and sys.stdin.isatty() and sys.stdout.isatty():
            self._readline = _readline()
        if self._readline is not None:
            self._readline.set_completer(self.complete)
        try:
            return input(prompt)
        finally:
            if self._readline is not None:
                self._readline.set_completer(None)

    def complete(self, text: str, number: int) -> str | None:
        """The completion of this number, from 0; None after the last one. The first bracket may be left
        out."""
        typed = text.lower().lstrip()
        fitting = [w for w in self.words if w.lower().startswith(typed) or w.lower()[1:].startswith(typed)]
        return fitting[number] if number < len(fitting) else None


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # Python is not built with readline on every platform.
        return None
    # A move is one word, spaces and brackets included.
    readline.set_completer_delims("\n")
    edits = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if edits else "tab: complete")
    return readline


_HELP = """\
  a number          the move with this number, which it keeps for the whole match
  a move            as the list shows it: {shown}
                    or as the rules write it, with or without brackets and blanks: {samples}
  a part of it      text that fits one move only: its beginning, its end{part}
  several steps     letters or words, one after the other, in games for one: {steps}
  moves             list the legal moves again
  undo              take back your last move, and all later ones
  quit              leave the match (as does Ctrl-C)"""


def help_for(names: Sequence[str], alone: bool, texts: Mapping[str, str]) -> str:
    """The help text, with a move of this game as example; ``alone`` is set if there is one role. ``texts``
    has each move as lists show it."""
    sample = max(names, key=lambda name: len(words_of(name)))
    words = words_of(sample)
    arguments = words[1:] or words
    samples = list(dict.fromkeys([sample, " ".join(words), " ".join(arguments), "".join(arguments)]))
    part = f", such as {''.join(arguments[-2:])}" if len(arguments) > 2 else ""
    steps = f"{arguments[-1][0] * 2}, {arguments[-1]} {arguments[-1]}"
    text = _HELP.format(shown=texts[sample], samples=", ".join(samples), part=part, steps=steps)
    return text if alone else "\n".join(line for line in text.split("\n") if "several steps" not in line)


class HumanPlayer(Player):
    """Asks a person for moves, without a deadline. ``show`` prints lines; ``ask`` prints a prompt and returns
    a line, and raises EOFError at the end of input. A move keeps the number that it had when it was first
    legal."""

    name = "human"
    timed = False

    def __init__(
        self,
        *,
        seed: int = 0,
        show: Callable[[str], None] = printing.show,
        ask: Callable[[str], str] | None = None,
        width: int = 80,
        words: MoveWords | None = None,
    ) -> None:
        super().__init__(seed=seed)
        self._given = self._words = words
        self._seen = True
        self._show = show
        self._ask = LineEditor() if ask is None else ask
        self._width = width
        self._numbers: dict[str, int] = {}
        self._steps: list[str] = []

    def prepare(self, state: State, deadline: float) -> None:
        self._numbers = {}
        self._steps = []
        self._words = self._given or MoveWords.of_machine(self.machine)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        self._seen = False
        return self.choose(belief.likeliest, deadline)

    def _texts(self, state: State, moves: Sequence[Term], names: Sequence[str]) -> list[str]:
        """The moves as lists show them. A number by itself would be mistaken for that of a move."""
        assert self._words is not None
        texts = self._words.of_terms(moves, self.role, state.propositions if self._seen else None)
        return [name if text.isdecimal() else text for text, name in zip(texts, names, strict=True)]

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        spell = OwnNotation(self.machine.rules).term
        options = self.in_order(options)
        terms = [self.machine.move(self.role, move) for move in options]
        names = list(map(spell, terms))
        texts = dict(zip(names, self._texts(state, terms, names), strict=True))
        role = spell(self.machine.roles[self.role])
        for name in names:
            self._numbers.setdefault(name, len(self._numbers) + 1)
        in_line = sorted(zip(names, options, strict=True), key=lambda pair: self._numbers[pair[0]])
        names, options = [name for name, _ in in_line], [move for _, move in in_line]
        numbers = [self._numbers[name] for name in names]
        if self._steps:
            step = self._steps.pop(0)
            fitting = _fitting_step(step, names)
            if len(fitting) == 1:
                return Choice(options[fitting[0]])
            self._show(f"  stopped before {step!r}, which fits {counted(len(fitting), 'move')} here")
            self._steps = []
        if isinstance(self._ask, LineEditor):
            self._ask.words = list(texts.values())
        shown = listing([texts[name] for name in names], self._width - 2, numbers=numbers)
        self._show(shown)
        while True:
            try:
                text = self._ask(f"{role}, your move (? for help): ").strip()
            except EOFError:
                raise Quit from None
            match text.lower():
                case "":
                    continue
                case "?" | "help":
                    self._show(help_for(names, len(self.machine.roles) == 1, texts))
                case "moves":
                    self._show(shown)
                case "undo":
                    raise Undo
                case "q" | "quit" | "exit":
                    raise Quit
                case _:
                    matches = as_shown(text, [texts[name] for name in names])
                    matches = matches or matching(text, names, numbers)
                    if len(matches) == 1:
                        return Choice(options[matches[0]])
                    if len(self.machine.roles) == 1 and (steps := steps_of(text, names, [*self._numbers])):
                        self._steps = steps[1:]
                        return Choice(options[_fitting_step(steps[0], names)[0]])
                    self._show(_complaint(text, [texts[names[i]] for i in matches], len(names)))


def listing(
    names: Sequence[str], width: int = 78, most: int = 200, numbers: Sequence[int] | None = None
) -> str:
    """The moves with their numbers (from 1 unless ``numbers`` is given), in columns."""
    numbers = range(1, len(names) + 1) if numbers is None else numbers
    shown = [f"{i:>3} {name}" for i, name in zip(numbers, names[:most], strict=False)]
    wide = max(map(len, shown), default=0) + 3
    across = max(1, width // wide)
    lines = [
        "".join(f"{text:<{wide}}" for text in shown[first : first + across]).rstrip()
        for first in range(0, len(shown), across)
    ]
    if len(names) > most:
        lines.append(f"    ... and {len(names) - most} more: type the beginning of a name to see those")
    return "\n".join(lines)


def _complaint(text: str, fitting: list[str], legal: int) -> str:
    if fitting:
        shown = ", ".join(fitting[:8]) + (f" and {len(fitting) - 8} more" if len(fitting) > 8 else "")
        return f"  {text!r} fits {len(fitting)} moves: {shown}"
    return f"  {text!r} is not one of the {counted(legal, 'legal move')}; 'moves' lists them"
