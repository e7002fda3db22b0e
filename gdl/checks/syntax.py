"""Findings of a text: what cannot be read (one run reports all faults), typographic characters, and comments
of other languages.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from gdl.checks.diagnostic import KINDS, Diagnostic, Severity, error, first_each, info, of_error, warning
from gdl.errors import ParseError, Place
from gdl.hints import read_hints
from gdl.rules import Rule, Rules
from gdl.syntax.notation import KIF, Notation, form_of
from gdl.syntax.parser import Reader
from gdl.syntax.sexpr import (
    FAULTS,
    MAX_ERRORS,
    Atom,
    Group,
    SExpr,
    Source,
    comment_mark,
    look_alike,
    named,
    tokens,
    what_to_write,
)
from gdl.words import counted

_FOREIGN_CHARACTER = warning("foreign-character", "leave it out")
_FOREIGN_COMMENT = warning("foreign-comment", "begin comments with ';'")

_PICTURE_HINT = info("picture-hint", "write: draw: THING as LOOK in COLOUR")

_ASCII_QUOTES = "\"'`"
_ODD = re.compile(r"[^\x00-\x7f]|[\[\]{},\"'`]")


def _check_characters(text: str) -> list[Diagnostic]:
    """Findings for the first of each character that KIF does not use, and for comments without a ``;``."""
    source = Source(text)
    comments = list(_comments(source))
    marks = Counter(mark for _, _, mark in comments)
    findings = []
    for start, _, mark in comments:
        if number := marks.pop(mark, 0):
            more = f", here and in {counted(number - 1, 'other place')}" if number > 1 else ""
            message = f"comments do not begin with {mark!r}{more}"
            findings.append(_FOREIGN_COMMENT.at(source.place(start), message))
    return [*findings, *first_each(_characters(source, comments))]


def without_comments_of_others(text: str, findings: list[Diagnostic]) -> list[Diagnostic]:
    """The findings but for doubts about words within what was meant as a comment."""
    source = Source(text)
    spans = [(source.place(start), source.place(end)) for start, end, _ in _comments(source)]
    starts = [(start.line, start.column) for start, _ in spans]

    def within(place: Place) -> bool:
        at = place.line, place.column
        number = bisect_right(starts, at)
        return number > 0 and at < (spans[number - 1][1].line, spans[number - 1][1].column)

    return [
        d
        for d in findings
        if d.severity is Severity.ERROR or d.code == _FOREIGN_COMMENT.code or not within(d.place)
    ]


def _comments(source: Source) -> Iterator[tuple[int, int, str]]:
    """Where comments of other languages begin and end, and their marks."""
    text, depth, until = source.text, 0, 0
    for word, at in tokens(source):
        if at < until:
            continue
        if word in "()":
            depth = max(0, depth + (1 if word == "(" else -1))
            continue
        mark = comment_mark(word)
        if mark and (depth == 0 or not text[text.rfind("\n", 0, at) + 1 : at].strip()):
            ending, skipped = ("*/", 2) if mark == "/*" else ("\n", 0)
            found = text.find(ending, at)
            until = len(text) if found < 0 else found + skipped
            yield at, until, mark


def _characters(source: Source, comments: list[tuple[int, int, str]]) -> Iterator[tuple[str, Diagnostic]]:
    starts = [start for start, _, _ in comments]
    for word, at in tokens(source):
        number = bisect_right(starts, at)
        if word[0] in "();" or (number and at < comments[number - 1][1]):
            continue
        for found in _ODD.finditer(word):
            place, character = found.start(), found[0]
            if character in _ASCII_QUOTES and 0 < place < len(word) - 1:
                continue  # within a name
            if word == ",":
                continue  # a sign by itself: see gdl.checks.foreign
            if remedy := what_to_write(character):
                message = f"{named(character)} is not a sign of KIF"
                yield character, _FOREIGN_CHARACTER.at(source.place(at + place), message, remedy=remedy)
        if word == "." or (len(word) > 1 and word.endswith(".")):
            message = "a full stop is part of a name in KIF"
            remedy = "leave it out: a parenthesis ends the sentence"
            yield ".", _FOREIGN_CHARACTER.at(source.place(at + len(word) - 1), message, remedy=remedy)
        if (place := look_alike(word)) >= 0:
            message = f"{word!r} has a letter of another alphabet, {named(word[place])}"
            remedy = "write the word in one alphabet"
            yield word, _FOREIGN_CHARACTER.at(source.place(at + place), message, remedy=remedy)


_NO_RULES = error("no-rules", "write at least (role ...), a legal rule and a terminal rule")
_MIXED_SPELLING = info("mixed-spelling", "spell it the same way everywhere: some tools mind the case")
_RULE_WITHOUT_BODY = info("rule-without-body", "write the fact alone, without '<='")

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
        findings.append(_NO_RULES.at(Place(1, 1), "the text holds no rules"))
    for sentence in sentences:
        match sentence:
            case Group([Atom("<="), _]):
                place = source.place(sentence.offset)
                findings.append(_RULE_WITHOUT_BODY.at(place, "a rule without a body is a fact"))
    findings += first_each(_spellings(source, sentences))
    hints, wrong = read_hints(source.text)
    findings += [_PICTURE_HINT.at(hint.place, hint.message, remedy=hint.remedy) for hint in wrong]
    if form is KIF and all(fault.code != "foreign-bracket" for fault in faults):
        findings += _check_characters(text)
    return Rules(tuple(rules), reader.spelling, name, form.name, hints), findings


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
                    yield word.lower(), _MIXED_SPELLING.at(source.place(offset), message)
