"""Rules from one notation to the other, comments kept.

>>> print(convert("(role x) ; the first\\n(<= terminal (true (step 9)) (not open))", "infix"), end="")
role(x) % the first
terminal :-
  true(step(9)) &
  ~open
>>> print(convert("role(x) % the first", "kif"), end="")
(role x) ; the first
"""

from __future__ import annotations

from gdl.rules import Rule, Rules
from gdl.syntax.format import format_text
from gdl.syntax.kif import sentence_to_kif
from gdl.syntax.notation import FORMS, KIF, Form, Notation, form_of
from gdl.syntax.parser import Reader
from gdl.syntax.sexpr import Group, SExpr, Source


def convert(text: str, to: Notation, name: str = "", notation: Notation = "auto") -> str:
    """The rules in canonical form in the notation ``to``; messages call the text ``name``.

    A comment stays behind its sentence, or before it where it stood before or within it. Where blank lines
    stood between sentences, one stays. Raises ParseError where the text is not in its notation.
    """
    given = form_of(text, notation, name)
    wanted = given if to == "auto" else FORMS[to]
    if given is KIF and wanted is KIF:
        return format_text(text, name)
    source, sentences = given.read(text, name)
    reader = Reader(source)
    rules = list(map(reader.rule, sentences))
    spelling = _names_only(reader.spelling) if wanted is KIF else reader.spelling
    written = _written(source, sentences, rules, given, wanted, spelling)
    return format_text(written) if wanted is KIF else written


def to_kif(rules: Rules) -> str:
    """The rules as KIF in their own spelling, a sentence a line, as game managers send them."""
    spelling = _names_only(rules.spelling)
    return "".join(f"{sentence_to_kif(rule, spelling)}\n" for rule in rules)


def _names_only(spelling: dict[str, str]) -> dict[str, str]:
    """How names are spelled. Variables of other notations begin with capital letters, those of KIF do not."""
    return {name: spelled for name, spelled in spelling.items() if name[0] != "?"}


def _written(
    source: Source,
    sentences: list[SExpr],
    rules: list[Rule],
    given: Form,
    wanted: Form,
    spelling: dict[str, str],
) -> str:
    text = source.text
    mark = wanted.mark
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
        add(wanted.write(rule, spelling), sentence.offset)
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
