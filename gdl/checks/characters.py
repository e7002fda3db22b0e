"""Findings about the characters of KIF: typographic ones, and comments of other languages."""

from __future__ import annotations

from collections.abc import Iterator

from gdl.checks.diagnostic import Diagnostic, Severity, error, first_each, warning
from gdl.errors import Place
from gdl.syntax.sexpr import Source, tokens
from gdl.syntax.typography import CLOSING, OPENING, comment_mark, look_alike, named, what_to_write

FOREIGN_BRACKET = error("foreign-bracket", "write '(' and ')'")
FOREIGN_CHARACTER = warning("foreign-character", "leave it out")
FOREIGN_COMMENT = warning("foreign-comment", "begin comments with ';'")

_ASCII_QUOTES = "\"'`"


def check_characters(text: str) -> list[Diagnostic]:
    """Findings for the first of each character that KIF does not use, and for comments without a ``;``."""
    source = Source(text)
    findings = [
        FOREIGN_COMMENT.at(source.place(start), f"comments do not begin with {mark!r}")
        for start, _, mark in _comments(source)
    ]
    return [*findings, *first_each(_characters(source))]


def without_comments_of_others(text: str, findings: list[Diagnostic]) -> list[Diagnostic]:
    """The findings but for doubts about words within what was meant as a comment."""
    source = Source(text)
    spans = [(source.place(start), source.place(end)) for start, end, _ in _comments(source)]

    def within(place: Place) -> bool:
        at = place.line, place.column
        return any((a.line, a.column) <= at < (b.line, b.column) for a, b in spans)

    return [
        d
        for d in findings
        if d.severity is Severity.ERROR or d.code == FOREIGN_COMMENT.code or not within(d.place)
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


def _characters(source: Source) -> Iterator[tuple[str, Diagnostic]]:
    spans = [(start, end) for start, end, _ in _comments(source)]
    for word, at in tokens(source):
        if word[0] in "();" or any(start <= at < end for start, end in spans):
            continue
        for place, character in enumerate(word):
            inside = 0 < place < len(word) - 1
            if character in _ASCII_QUOTES and inside:
                continue
            remedy = what_to_write(character)
            if remedy and len(word) == 1 and character == ",":
                continue  # a sign by itself: see gdl.checks.foreign
            if remedy:
                kind = FOREIGN_BRACKET if character in OPENING + CLOSING else FOREIGN_CHARACTER
                message = f"{named(character)} is no sign of KIF"
                yield character, kind.at(source.place(at + place), message, remedy=remedy)
        if word == "." or (len(word) > 1 and word.endswith(".")):
            message = "a full stop is part of a name in KIF"
            remedy = "leave it out: a parenthesis ends the sentence"
            yield ".", FOREIGN_CHARACTER.at(source.place(at + len(word) - 1), message, remedy=remedy)
        if (place := look_alike(word)) >= 0:
            message = f"{word!r} has a letter of another alphabet, {named(word[place])}"
            remedy = "write the word in one alphabet"
            yield word, FOREIGN_CHARACTER.at(source.place(at + place), message, remedy=remedy)
