"""Syntax: reads a text to its end past its faults, so that one run reports them all."""

from __future__ import annotations

from collections.abc import Iterator

from gdl.checks.characters import check_characters
from gdl.checks.diagnostic import KINDS, Diagnostic, error, first_each, info, of_error, warning
from gdl.errors import ParseError, Place
from gdl.rules import Rule, Rules
from gdl.syntax.notation import KIF, Notation, form_of
from gdl.syntax.parser import Reader
from gdl.syntax.sexpr import FAULTS, MAX_ERRORS, Atom, Group, SExpr, Source

NO_RULES = error("no-rules", "write at least (role ...), a legal rule and a terminal rule")
MIXED_SPELLING = info("mixed-spelling", "spell it the same way everywhere: some tools mind the case")
RULE_WITHOUT_BODY = info("rule-without-body", "write the fact alone, without '<='")

for _code, _remedy in {
    **{code: remedy for code, (_, remedy) in FAULTS.items() if code != "not-one-term"},
    "not-infix": "see docs/notations.md",
    "not-prolog": "see docs/notations.md",
    "unread-directive": "write its rules out without it",
    "unwritable-name": "leave blanks, parentheses and semicolons out of it",
}.items():
    error(_code, _remedy)
warning("ignored-directive", "remove it")
info("name-changed", "name it without blanks and parentheses")


def read_rules(text: str, name: str = "", notation: Notation = "auto") -> tuple[Rules, list[Diagnostic]]:
    """The sentences that can be read, and a diagnostic for each fault of those that cannot."""
    form = form_of(text, notation, name)
    try:
        source, sentences, faults = form.read_past_faults(text, name)
    except ParseError as fault:
        return Rules((), {}, name, form.name), [of_error(fault)]
    reader = Reader(source)
    rules: list[Rule] = []
    for sentence in sentences:
        try:
            rules.append(reader.rule(sentence))
        except ParseError as fault:
            faults.append(fault)
    findings = [of_error(fault) for fault in faults[:MAX_ERRORS]]
    for remark in source.remarks:
        findings.append(KINDS[remark.code].at(remark.place or Place(1, 1), remark.message))
    if not sentences and not faults:
        findings.append(NO_RULES.at(Place(1, 1), "the text holds no rules"))
    for sentence in sentences:
        match sentence:
            case Group([Atom("<="), _]):
                place = source.place(sentence.offset)
                findings.append(RULE_WITHOUT_BODY.at(place, "a rule without a body is a fact"))
    findings += first_each(_spellings(source, sentences))
    if form is KIF:
        findings += check_characters(text)
    return Rules(tuple(rules), reader.spelling, name, form.name), findings


def _spellings(source: Source, sentences: list[SExpr]) -> Iterator[tuple[str, Diagnostic]]:
    """A finding wherever a name is not spelled as before."""
    first: dict[str, str] = {}
    todo: list[SExpr] = list(reversed(sentences))
    while todo:
        match todo.pop():
            case Group(inner):
                todo.extend(reversed(inner))
            case Atom(word, offset):
                spelled = first.setdefault(word.lower(), word)
                if spelled != word:
                    message = f"{word!r} was spelled {spelled!r} before"
                    yield word.lower(), MIXED_SPELLING.at(source.place(offset), message)
