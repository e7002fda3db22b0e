"""Canonical layout of rules: one literal per line, comments kept where they belong.

>>> print(format_text("(<= terminal (true (step 9)) (not open)) ; over"), end="")
(<= terminal
  (true (step 9))
  (not open)) ; over

It works on expressions, not on rules: spelling and order stay as they are, and a text that is in this
form already comes back unchanged.

It also turns rules from one notation to the other, comments kept:

>>> print(convert("(role x) ; the first\\n(<= terminal (true (step 9)) (not open))", "infix"), end="")
role(x) % the first
terminal :-
  true(step(9)) &
  ~open
>>> print(convert("role(x) % the first", "kif"), end="")
(role x) ; the first
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gdl.rules import Rule, Rules
from gdl.syntax.notation import FORMS, KIF, Form, Notation, form_of
from gdl.syntax.parser import Reader
from gdl.syntax.sexpr import Group, SExpr, Source, read, sentence_to_kif


def format_text(text: str, name: str = "") -> str:
    """The rules in canonical form; error messages call the text ``name``.

    A fact stands on one line. A rule has its head on the first line and each literal on a line of its own,
    indented by two blanks; the formulas below ``or``, ``and`` and a ``not`` of several are indented further.
    Comments stay before, behind or inside what they comment on. Where blank lines stood between sentences,
    one stays. Raises ParseError where the text is not KIF.
    """
    source, parts = read(text, name, keep_comments=True)
    lines: list[str] = []
    end = 0
    for item in _items(source, parts, None):
        _settle(item)
        _flatten(item)
        if lines and source.text.count("\n", end, item.start) > 1:
            lines.append("")
        lines.extend(_layout(item, 0, item.is_rule))
        if item.trailing:
            lines[-1] += f" {item.trailing}"
        end = item.end
    return "\n".join([*lines, ""]) if lines else ""


@dataclass(slots=True)
class _Item:
    """An expression, a comment on a line of its own, or the opening of a group.

    Attributes:
        start: offset of its first character.
        end: offset behind its last one, its trailing comment's included.
        word: the text of an atom or comment; empty for groups and openings.
        items: the opening and the parts of a group.
        flat: the text on one line; None where a comment stands inside, and for comments.
        trailing: the comment behind it on its last line.
    """

    start: int
    end: int
    word: str = ""
    items: list[_Item] = field(default_factory=list)
    flat: str | None = None
    trailing: str = ""

    @property
    def is_comment(self) -> bool:
        return self.word.startswith(";")

    @property
    def is_rule(self) -> bool:
        return len(self.items) > 1 and self.items[1].word == "<="

    @property
    def is_branching(self) -> bool:
        """Whether this formula spreads over several lines."""
        if len(self.items) < 3:
            return False
        word = self.items[1].word.lower()
        if word == "not":
            return any(inner.is_branching for inner in self.items[2:])
        return word in ("or", "and")


def _items(source: Source, parts: list[SExpr], opening: _Item | None) -> list[_Item]:
    """The items of a text or group, each comment attached to the item it follows."""
    items = [] if opening is None else [opening]
    for part in parts:
        if isinstance(part, Group):
            inside = _items(source, part.parts, _Item(part.offset, part.offset + 1))
            items.append(_Item(part.offset, part.end + 1, items=inside))
            continue
        end = part.offset + len(part.text)
        before = items[-1] if items else None
        if part.text.startswith(";") and before and "\n" not in source.text[before.end : part.offset]:
            before.trailing = part.text
            before.end = end
        else:
            items.append(_Item(part.offset, end, part.text))
    return items


def _settle(item: _Item) -> None:
    """Move comments behind the last part of a group to behind the group, in order: ``x) ; c``."""
    chain = [item]
    while len(chain[-1].items) > 1:
        for inner in chain[-1].items[1:-1]:
            _settle(inner)
        chain.append(chain[-1].items[-1])
    comments = [link.trailing for link in reversed(chain) if link.trailing]
    for link in chain:
        link.trailing = comments.pop() if comments else ""


def _flatten(item: _Item) -> None:
    """Set the one-line text of an item and its parts, if there is no comment inside."""
    if not item.items:
        item.flat = None if item.is_comment else item.word
        return
    parts = item.items[1:]
    for part in parts:
        _flatten(part)
    texts = [part.flat for part in parts if part.flat is not None]
    if len(texts) == len(parts) and not any(inner.trailing for inner in item.items):
        item.flat = f"({' '.join(texts)})"


def _layout(item: _Item, indent: int, formulas: bool) -> list[str]:
    """The lines of an item, the first one not indented; ``formulas``: it is a rule or formula, not a term."""
    if item.is_comment:
        return [item.word]
    is_rule = formulas and item.is_rule
    spread = formulas and (item.is_branching or (is_rule and len(item.items) > 3))
    if item.flat is not None and not spread:
        return [item.flat]
    lines = ["("]
    joins = True  # as long as what comes next stands on the line of the parenthesis
    for number, part in enumerate(item.items[1:], 1):
        if item.items[number - 1].trailing:
            lines[-1] += f" {item.items[number - 1].trailing}"
            joins = False
        inner = _layout(part, indent + 2, formulas and number > 1 + is_rule)
        if joins and not part.is_comment and number <= 1 + is_rule:
            lines[-1] += inner[0] if number == 1 else f" {inner[0]}"
        else:
            joins = False
            lines.append(" " * (indent + 2) + inner[0])
        lines.extend(inner[1:])
    last = item.items[-1]
    if last.trailing:
        lines[-1] += f" {last.trailing}"
    if last.trailing or last.is_comment:
        lines.append(" " * indent + ")")
    else:
        lines[-1] += ")"
    return lines


def convert(text: str, to: Notation, name: str = "", notation: Notation = "auto") -> str:
    """The rules in canonical form in the notation ``to``; messages call the text ``name``.

    A comment stays behind its sentence, or before it where it stood before or within it. Where blank lines
    stood between sentences, one stays. Raises ParseError where the text is not in its notation.
    """
    given = form_of(text, notation, name)
    target = given if to == "auto" else FORMS[to]
    if given is KIF and target is KIF:
        return format_text(text, name)
    source, sentences = given.read(text, name)
    reader = Reader(source)
    rules = list(map(reader.rule, sentences))
    spelling = _names_only(reader.spelling) if target is KIF else reader.spelling
    written = _written(source, sentences, rules, given, target, spelling)
    return format_text(written) if target is KIF else written


def to_kif(rules: Rules) -> str:
    """The rules as KIF in their own spelling, a sentence a line, as game managers send them."""
    spelling = _names_only(rules.spelling)
    return "".join(f"{sentence_to_kif(rule, spelling)}\n" for rule in rules)


def _names_only(spelling: dict[str, str]) -> dict[str, str]:
    """The spelling of names, without variables, whose capital letters of other notations are wrong in KIF."""
    return {name: spelled for name, spelled in spelling.items() if name[0] != "?"}


def _written(
    source: Source,
    sentences: list[SExpr],
    rules: list[Rule],
    given: Form,
    target: Form,
    spelling: dict[str, str],
) -> str:
    text = source.text
    mark = target.mark
    waiting = list(given.comments(source))[::-1]
    lines: list[str] = []
    end = 0

    def add(line: str, start: int) -> None:
        if lines and text.count("\n", end, start) > 1:
            lines.append("")
        lines.append(line)

    for sentence, rule in zip(sentences, rules, strict=True):
        until = sentence.end if isinstance(sentence, Group) else sentence.offset + len(sentence.text) - 1
        while waiting and waiting[-1][0] < until:
            at, its_end, words = waiting.pop()
            add(f"{mark} {words}".rstrip(), min(at, sentence.offset))
            end = max(end, its_end)
        add(target.write(rule, spelling), sentence.offset)
        end = until + 1
        if (
            waiting
            and "\n" not in text[end : waiting[-1][0]]
            and not text[end : waiting[-1][0]].strip(" \t.")
        ):
            _, end, words = waiting.pop()
            lines[-1] += f" {mark} {words}".rstrip()
    for at, its_end, words in reversed(waiting):
        add(f"{mark} {words}".rstrip(), at)
        end = its_end
    return "".join(f"{line}\n" for line in lines)
