"""Our games with one slip each: it makes one finding, and that names it where it stands."""

from __future__ import annotations

import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import pytest

from gdl.checks.run import Severity, check_text
from gdl.syntax.sexpr import Atom, Group, SExpr, read
from gdl.terms import ARITIES
from tests.places import ROOT

GAMES = (
    *("breakthrough", "chomp", "connectfour", "eightpuzzle", "hanoi"),
    *("hex", "lightsout", "nim", "pegsolitaire", "tictactoe"),
)
TRIED = 4
"""Places of a game at which each slip is made."""
Edit = tuple[int, int, str]
Slip = tuple[list[Edit], int]
"""What changes, and the offset of the sentence or literal whose line the finding is to be at."""
TEXT, SOMEWHERE = -1, -2
"""In place of the offset: the finding concerns the text as a whole, or may be anywhere."""


def ends(part: SExpr) -> tuple[int, int]:
    last = part.end + 1 if isinstance(part, Group) else part.offset + len(part.text)
    return part.offset, last


def first(part: SExpr) -> Atom:
    return part if isinstance(part, Atom) else first(part.parts[0])


def last(part: SExpr) -> SExpr:
    return part.parts[-1] if isinstance(part, Group) else part


def atoms(part: SExpr) -> Iterator[Atom]:
    if isinstance(part, Atom):
        yield part
    else:
        for inner in part.parts:
            yield from atoms(inner)


def literals(part: SExpr) -> Iterator[SExpr]:
    if isinstance(part, Group) and first(part).text in ("not", "and", "or"):
        for inner in part.parts[1:]:
            yield from literals(inner)
    else:
        yield part


def misspelt(atom: Atom, at: int) -> Slip:
    wrong = atom.text[0] + atom.text[2:] if len(atom.text) > 3 else atom.text + "x"
    return [(*ends(atom), wrong)], at


def unwrapped(group: Group, at: int) -> Slip:
    start, end = ends(group.parts[-1])
    return [(group.offset, start, ""), (end, group.end + 1, "")], at


class GameText:
    """The sentences of a game."""

    def __init__(self, name: str) -> None:
        self.text = (ROOT / "games" / f"{name}.kif").read_text()
        _, sentences = read(self.text)
        self.rules = [part for part in sentences if isinstance(part, Group) and first(part).text == "<="]
        self.facts = [part for part in sentences if isinstance(part, Group) and first(part).text != "<="]
        self.heads = [(rule.parts[1], rule) for rule in self.rules] + [(fact, fact) for fact in self.facts]
        self.body = [one for rule in self.rules for part in rule.parts[2:] for one in literals(part)]

    def named(self, *names: str) -> Iterator[Group]:
        """Literals of these relations; without names all that are no keywords."""
        for literal in self.body:
            word = first(literal).text
            if isinstance(literal, Group) and (word in names if names else word not in ARITIES):
                yield literal

    def headed(self, *names: str) -> Iterator[tuple[Group, Group]]:
        for head, sentence in self.heads:
            if isinstance(head, Group) and first(head).text in names:
                yield head, sentence

    def without(self, name: str) -> Iterator[Slip]:
        edits = [(*ends(sentence), "") for head, sentence in self.heads if first(head).text == name]
        if edits:
            yield edits, TEXT


def argument_missing(game: GameText) -> Iterator[Slip]:
    for literal in game.named():
        if len(literal.parts) > 1:
            start, end = ends(last(literal))
            yield [(start - 1, end, "")], literal.offset


def argument_missing_in_the_state(game: GameText) -> Iterator[Slip]:
    places = [(literal, literal.offset) for literal in game.named("true")]
    places += [(head, sentence.offset) for head, sentence in game.headed("next")]
    for group, at in places:
        if isinstance(inner := last(group), Group) and len(inner.parts) > 2:
            start, end = ends(last(inner))
            yield [(start - 1, end, "")], at


def relation_misspelt(game: GameText) -> Iterator[Slip]:
    for literal in game.named():
        yield misspelt(first(literal), literal.offset)


def keyword_misspelt(game: GameText) -> Iterator[Slip]:
    for literal in game.named("true", "does", "distinct"):
        yield misspelt(first(literal), literal.offset)
    for head, sentence in game.headed("next", "legal", "goal"):
        yield misspelt(first(head), sentence.offset)


def proposition_misspelt(game: GameText) -> Iterator[Slip]:
    for literal in game.named("true"):
        yield misspelt(first(last(literal)), literal.offset)
    for head, sentence in game.headed("init"):
        yield misspelt(first(last(head)), sentence.offset)


def constant_misspelt(game: GameText) -> Iterator[Slip]:
    for literal in [*game.named("true"), *game.named()]:
        for atom in atoms(last(literal)):
            if atom is not first(last(literal)) and not atom.text.startswith("?"):
                yield [(*ends(atom), atom.text + "x")], literal.offset


def role_renamed(game: GameText) -> Iterator[Slip]:
    """Only in ``(role ...)``, where other rules name it."""
    words = Counter(atom.text for _, sentence in game.heads for atom in atoms(sentence))
    for fact in game.facts:
        if first(fact).text == "role" and words[first(last(fact)).text] > 1:
            yield [(*ends(last(fact)), first(last(fact)).text + "x")], fact.offset


def true_missing(game: GameText) -> Iterator[Slip]:
    for literal in game.named("true", "does"):
        yield unwrapped(literal, literal.offset)


def next_or_init_missing(game: GameText) -> Iterator[Slip]:
    for head, sentence in game.headed("next", "init"):
        yield unwrapped(head, sentence.offset)


def first_propositions_missing(game: GameText) -> Iterator[Slip]:
    """All init rules of one proposition that next rules only change."""
    edits = defaultdict(list)
    for head, sentence in game.headed("init"):
        edits[first(last(head)).text].append((*ends(sentence), ""))
    if "step" in edits:
        yield edits["step"], SOMEWHERE


def parenthesis_missing(game: GameText) -> Iterator[Slip]:
    for rule in game.rules:
        for part in (rule, rule.parts[1]):
            if isinstance(part, Group):
                yield [(part.end, part.end + 1, "")], rule.offset


def parenthesis_too_many(game: GameText) -> Iterator[Slip]:
    for rule in game.rules:
        for end in (rule.end, *([rule.parts[1].end] if isinstance(rule.parts[1], Group) else [])):
            yield [(end, end, ")")], end


def variable_misspelt_in_the_head(game: GameText) -> Iterator[Slip]:
    for rule in game.rules:
        for atom in atoms(rule.parts[1]):
            if atom.text.startswith("?"):
                yield [(*ends(atom), atom.text + "z")], rule.offset


def marks_missing(game: GameText) -> Iterator[Slip]:
    """All ``?`` of a literal that asks for a relation of facts."""
    facts = {first(fact).text for fact in game.facts}
    for literal in game.named():
        marks = [(a.offset, a.offset + 1, "") for a in atoms(literal) if a.text.startswith("?")]
        if first(literal).text in facts and marks:
            yield marks, literal.offset


SLIPS: dict[str, Callable[[GameText], Iterator[Slip]]] = {
    slip.__name__: slip
    for slip in (
        argument_missing,
        argument_missing_in_the_state,
        relation_misspelt,
        keyword_misspelt,
        proposition_misspelt,
        constant_misspelt,
        role_renamed,
        true_missing,
        next_or_init_missing,
        first_propositions_missing,
        parenthesis_missing,
        parenthesis_too_many,
        variable_misspelt_in_the_head,
        marks_missing,
    )
} | {
    f"no_{word}": lambda game, word=word: game.without(word)
    for word in ("role", "init", "next", "legal", "goal", "terminal")
}


@pytest.mark.parametrize("slip", SLIPS)
def test_one_slip_makes_one_finding_where_it_stands(slip: str) -> None:
    tried = 0
    missed: list[str] = []
    for name in GAMES:
        game = GameText(name)
        places = list(SLIPS[slip](game))
        random.Random(zlib.crc32(name.encode())).shuffle(places)
        for edits, at in places[:TRIED]:
            text = game.text
            for start, end, new in sorted(edits, reverse=True):
                text = text[:start] + new + text[end:]
            found = [d for d in check_text(text)[1] if d.severity > Severity.INFO]
            line = game.text.count("\n", 0, at) + 1 if at >= 0 else 0
            tried += 1
            if len(found) != 1 or (at != SOMEWHERE and found[0].place.line != line):
                missed.append(f"{name}:{line} {text[edits[0][0] :][:50]!r}: {list(map(str, found))}")
    assert tried
    assert not missed, "\n".join(missed)
