"""Syntax: reads a text to its end past its faults, so that one run reports them all.

A missing parenthesis is noticed where the next sentence starts: at a ``(<=``, or at a '(' in
column 1 where the text otherwise puts only sentences there. Reading then goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator

from gdl.checks.characters import check_characters
from gdl.checks.diagnostic import Diagnostic, error, first_each, info, of_error
from gdl.errors import ParseError, Place
from gdl.rules import Rule, Rules
from gdl.syntax.notation import Notation, is_infix, notation_of
from gdl.syntax.parser import Reader, read_sentences
from gdl.syntax.sexpr import FAULTS, Atom, Group, Nest, SExpr, Source, tokens

MAX_ERRORS = 50
"""Syntax errors reported for one text; a text with more of them is not rules."""

NO_RULES = error("no-rules", "write at least (role ...), a legal rule and a terminal rule")
MIXED_SPELLING = info("mixed-spelling", "spell it the same way everywhere: some tools mind the case")
RULE_WITHOUT_BODY = info("rule-without-body", "write the fact alone, without '<='")

for _code, _remedy in {
    **{code: remedy for code, (_, remedy) in FAULTS.items() if code != "not-one-term"},
    "not-infix": "see docs/notations.md",
    "unwritable-name": "leave blanks, parentheses and semicolons out of it",
}.items():
    error(_code, _remedy)


def read_rules(text: str, name: str = "", notation: Notation = "auto") -> tuple[Rules, list[Diagnostic]]:
    """The sentences that can be read, and a diagnostic for each fault of those that cannot."""
    try:
        source, sentences = read_sentences(text, name, notation)
        faults: list[ParseError] = []
    except ParseError as fault:
        if fault.code == "text-too-large":
            return Rules((), {}, name), [of_error(fault)]
        if is_infix(text, notation):
            source, sentences, faults = _read_infix_on(text, name)
        else:
            source, sentences, faults = _read_on(text, name, fault)
    reader = Reader(source)
    rules: list[Rule] = []
    for sentence in sentences:
        try:
            rules.append(reader.rule(sentence))
        except ParseError as fault:
            faults.append(fault)
    findings = [of_error(fault) for fault in faults[:MAX_ERRORS]]
    if not sentences and not faults:
        findings.append(NO_RULES.at(Place(1, 1), "the text holds no rules"))
    for sentence in sentences:
        match sentence:
            case Group([Atom("<="), _]):
                place = source.place(sentence.offset)
                findings.append(RULE_WITHOUT_BODY.at(place, "a rule without a body is a fact"))
    findings += first_each(_spellings(source, sentences))
    known = notation_of(text, notation)
    if known == "kif":
        findings += check_characters(text)
    return Rules(tuple(rules), reader.spelling, name, known), findings


def _read_infix_on(text: str, name: str) -> tuple[Source, list[SExpr], list[ParseError]]:
    """The same of infix rules."""
    from gdl.syntax.infix import read_past_faults

    try:
        return read_past_faults(text, name)
    except ParseError as fault:
        return Source(text, name), [], [fault]


def _read_on(text: str, name: str, first: ParseError) -> tuple[Source, list[SExpr], list[ParseError]]:
    """Read a faulty text: the sentences without a fault, and the faults."""
    source = Source(text, name)
    nest = Nest(source)
    faults: list[ParseError] = []
    broken: set[int] = set()  # offsets of sentences that lost something
    loose = False  # whether literals start in column 1, too
    for word, at in tokens(source):
        if len(faults) >= MAX_ERRORS:
            break
        try:
            match word[0]:
                case "(":
                    if nest.stack and text[at - 1 : at] in ("\n", "\r"):
                        arrow = text.startswith("<=", at + 1)
                        late = first.place is not None and source.place(at).line > first.place.line
                        if arrow or (late and not loose):
                            faults.append(nest.unclosed())
                            broken.add(nest.top.pop().offset)
                            nest.stack.clear()
                            nest.current = nest.top
                        else:
                            loose = True
                    nest.opened(at)
                case ")":
                    nest.closed(at)
                case ";":
                    pass
                case _:
                    nest.atom(word, at)
        except ParseError as fault:
            faults.append(fault)
            if fault.code == "nesting-too-deep":
                break
            if nest.stack:
                broken.add(nest.stack[0].offset)
    else:
        if nest.stack:
            faults.append(nest.unclosed())
    if nest.stack:
        broken.add(nest.top[-1].offset)
    return source, [sentence for sentence in nest.top if sentence.offset not in broken], faults


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
