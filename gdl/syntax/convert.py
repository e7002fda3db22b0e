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

from collections.abc import Callable, Iterator

from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.syntax.format import format_text
from gdl.syntax.notation import Notation, is_infix
from gdl.syntax.parser import Reader, read_sentences
from gdl.syntax.sexpr import Group, SExpr, Source, tokens
from gdl.syntax.to_infix import sentence_to_infix


def convert(text: str, to: Notation, name: str = "", notation: Notation = "auto") -> str:
    """The rules in canonical form in the notation ``to``; messages call the text ``name``.

    A comment stays behind its sentence, or before it where it stood before or within it. Where blank lines
    stood between sentences, one stays. Raises ParseError where the text is not in its notation.
    """
    infix = is_infix(text, notation)
    if not infix and to != "infix":
        return format_text(text, name)
    source, sentences = read_sentences(text, name, notation)
    reader = Reader(source)
    rules = [reader.rule(sentence) for sentence in sentences]
    if to == "kif" or (to == "auto" and not infix):
        return format_text(_written(source, sentences, rules, infix, ";", _kif_of(reader.spelling)))
    return _written(
        source, sentences, rules, infix, "%", lambda rule: sentence_to_infix(rule, reader.spelling)
    )


def to_kif(rules: Rules) -> str:
    """The rules as KIF in their own spelling, a sentence a line, as game managers send them."""
    write = _kif_of(rules.spelling)
    return "".join(f"{write(rule)}\n" for rule in rules)


def _written(
    source: Source,
    sentences: list[SExpr],
    rules: list[Rule],
    infix: bool,
    mark: str,
    write: Callable[[Rule], str],
) -> str:
    text = source.text
    waiting = list(_comments(source, infix))[::-1]
    lines: list[str] = []
    end = 0

    def add(line: str, start: int) -> None:
        if lines and text.count("\n", end, start) > 1:
            lines.append("")
        lines.append(line)

    for sentence, rule in zip(sentences, rules, strict=True):
        until = sentence.end if isinstance(sentence, Group) else sentence.offset + len(sentence.text) - 1
        while waiting and waiting[-1][0] < until:
            at, words = waiting.pop()
            add(f"{mark} {words}".rstrip(), min(at, sentence.offset))
            end = max(end, at + 1)
        add(write(rule), sentence.offset)
        end = until + 1
        if (
            waiting
            and "\n" not in text[end : waiting[-1][0]]
            and not text[end : waiting[-1][0]].strip(" \t.")
        ):
            at, words = waiting.pop()
            lines[-1] += f" {mark} {words}".rstrip()
            end = at + 1
    for at, words in reversed(waiting):
        add(f"{mark} {words}".rstrip(), at)
        end = at + 1
    return "".join(f"{line}\n" for line in lines)


def _comments(source: Source, infix: bool) -> Iterator[tuple[int, str]]:
    if infix:
        from gdl.syntax.infix import comments

        yield from comments(source.text)
        return
    for word, at in tokens(source):
        if word[0] == ";":
            yield at, word.lstrip(";").removeprefix(" ").rstrip()


def _kif_of(spelling: dict[str, str]) -> Callable[[Rule], str]:
    def formula(part: Formula) -> str:
        match part:
            case Literal(atom):
                return atom.spelled(spelling)
            case Not(inner):
                return f"(not {formula(inner)})"
            case And(parts):
                return f"({' '.join(['and', *map(formula, parts)])})"
            case Or(parts):
                return f"({' '.join(['or', *map(formula, parts)])})"

    def sentence(rule: Rule) -> str:
        head = rule.head.spelled(spelling)
        return f"(<= {head} {' '.join(map(formula, rule.body))})" if rule.body else head

    return sentence
