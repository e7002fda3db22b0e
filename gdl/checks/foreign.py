"""Findings about words that GDL does not have: misspelt keywords and relations, and constructs of other
languages (equality, quantifiers, arithmetic, their signs).

A word counts as foreign only if the rules define no relation of that name and arity themselves.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from gdl.checks.diagnostic import Diagnostic, warning
from gdl.errors import Place
from gdl.rules import Rule, Rules, Signature, atoms_of, body_literals, subterms
from gdl.syntax.writer import OwnNotation
from gdl.terms import (
    ARITIES,
    BASE,
    CONNECTIVES,
    DISTINCT,
    GOAL,
    INIT,
    INPUT,
    LEGAL,
    NEXT,
    ROLE,
    TERMINAL,
    Term,
)

_NOT_IN_GDL = warning("not-in-gdl", "define the relation by facts and rules")
_CONNECTIVE_ALONE = warning("connective-alone", "put the connective and its formulas into parentheses")
_KNOWS = warning(
    "knows-not-supported", "write the game in GDL-II, whose percepts define the knowledge of players"
)
_VARIABLE_WITHOUT_MARK = warning("variable-without-mark", "begin variables with '?'")

_ORDER = "list the order as facts, such as {less}, and ask for them"
_RESULTS = "list the results as facts, such as {succ}, and ask for them"
_ARROW = "write the head first: {rule}"
_LEFT = "write <=, without a blank in it: {rule}"
_UNEQUAL, _NOT, _OR = "distinct", "not", "or"


def _table() -> dict[str, tuple[str, str]]:
    """Word -> what it is in other languages, and the remedy with places for samples."""
    rows = (
        ("= == === eq equal equals same", "equality", "use the same variable or constant in both places"),
        ("!= !== /= <> \\= \\== =\\= ≠ neq noteq notequal unequal", "inequality", _UNEQUAL),
        (
            "exists exist forsome ∃",
            "quantifiers",
            "write its formula alone: a variable that occurs in a body alone is one that exists",
        ),
        ("forall foreach all ∀", "quantifiers", "define a relation for the counterexample, and write {no}"),
        (
            "< > <= >= =< ≤ ≥ less lessthan greater greaterthan smaller larger lt gt leq geq",
            "comparisons",
            _ORDER,
        ),
        (
            "+ - * / % ^ ** ++ -- − × ÷ plus minus add subtract times mod sum succ successor inc",
            "arithmetic",
            _RESULTS,
        ),
        ("is assign := let", "assignments", _RESULTS),
        ("& && ∧ , conj", "sign", "leave it out: the formulas of a body must all hold"),
        ("| || ∨ disj", "sign", _OR),
        ("! ~ ¬ \\+ naf", "sign", _NOT),
        ("=> -> ==> --> → ⇒ implies <=> ↔ ⇔ iff then else when", "sign", _ARROW),
        ("<== <-- <<= <- ← ⇐ :- if", "sign", _LEFT),
    )
    return {word: (what, remedy) for words, what, remedy in rows for word in words.split()}


_FOREIGN = _table()
_SIGNS = {word for word in _FOREIGN if not word.isalpha() or not word.isascii()}
_MARKED = re.compile(r"([!~¬]|\\\+)(\S+)")
_SAMPLES = {
    "less": "(less 1 2)",
    "succ": "(succ 1 2)",
    "no": "(not (counterexample ?x))",
    "rule": "(<= head body...)",
}


def is_foreign(name: str) -> bool:
    """Whether other languages have a meaning for this word, or it is a sign and no name."""
    return name in _FOREIGN or name in CONNECTIVES or _MARKED.fullmatch(name) is not None


def check_foreign(rules: Rules) -> Iterator[Diagnostic]:
    """Words of other languages in heads, bodies and terms, and variables without their question mark."""
    own = OwnNotation(rules)
    defined = {rule.head.name for rule in rules}
    read = {literal.atom.signature for rule in rules for literal, _ in body_literals(rule)}
    for rule in rules:
        head = rule.head
        if head.args and head.signature not in read:
            name = "<==" if head.name == "<" and head.args[0].name == "=" else head.name
            if _FOREIGN.get(name, ("", ""))[1] in (_ARROW, _LEFT):
                yield _finding(Term(name, *head.args), rule.place, own, False)
        for literal, _ in body_literals(rule):
            if literal.atom.name not in defined:
                yield from _unknown(literal.atom, literal.place, own, defined)
        for atom, place in atoms_of(rule):
            for term in subterms(atom):
                if term.args and term.name in _SIGNS and atom.name not in _SIGNS:
                    yield _finding(term, place, own, True)
    if rules.notation == "kif":
        yield from _without_mark(rules, own)


def _unknown(atom: Term, place: Place, own: OwnNotation, defined: set[str]) -> Iterator[Diagnostic]:
    """A literal whose relation no rule defines, if it has the look of another language."""
    marked = _MARKED.fullmatch(atom.name)
    if not atom.args and atom.name in CONNECTIVES:
        message = f"{atom.name!r} stands alone, where it joins nothing"
        sample = "(not (relation ?x))" if atom.name == "not" else f"({atom.name} (relation ?x) (other ?x))"
        yield _CONNECTIVE_ALONE.at(place, message, remedy=own.sample(f"write {sample}"))
    elif atom.name == "knows" and len(atom.args) in (1, 2):
        yield _KNOWS.at(place, "'knows' is a word of GDL-III, which is not supported: it never holds")
    elif atom.name in _FOREIGN:
        yield _finding(atom, place, own, False)
    elif marked and marked[2] in defined:
        meant = own.term(Term(marked[2], *atom.args))
        yield _NOT_IN_GDL.at(
            place, f"GDL has no {marked[1]!r} before names", remedy=f"write {own.joined('not', [meant])}"
        )


def _finding(atom: Term, place: Place, own: OwnNotation, in_term: bool) -> Diagnostic:
    what, remedy = _FOREIGN[atom.name]
    args = [own.term(arg) for arg in atom.args]
    match remedy:
        case "distinct":
            two = atom.args if len(atom.args) == 2 else (Term("?x"), Term("?y"))
            remedy = f"write {own.term(Term(DISTINCT, *two))}"
        case "not" | "or":
            remedy = f"write {own.joined(remedy, args or ['...'])}"
        case _:
            samples = {key: own.sample(text) for key, text in _SAMPLES.items()}
            remedy = remedy.format(**samples)
    name = own.name(atom.name)
    if what == "sign":
        message = f"GDL has no {name!r}"
    elif in_term:
        message = f"GDL has no {what}: {own.term(atom)} is a name here and has no value"
    else:
        message = f"GDL has no {what}: no rule defines {name!r}"
    return _NOT_IN_GDL.at(place, message, remedy=remedy)


def _without_mark(rules: Rules, own: OwnNotation) -> Iterator[Diagnostic]:
    """Constants that look and are used as variables of other languages: ``X`` or ``_`` in a rule's head and
    body, or twice in its body, or ``x`` beside ``?x``, which no fact has."""
    stated: set[str] = set()
    for rule in rules:
        if not rule.body:
            stated.update(term.name for term in subterms(rule.head))
    rules_with = Counter(name for rule in rules for name in _constants(rule))
    reported: set[str] = set()
    for rule in rules:
        marked = any(not atom.ground for atom, _ in atoms_of(rule))
        variables = {v.name for atom, _ in atoms_of(rule) for v in atom.variables()}
        for name, places in _constants(rule).items():
            word = own.name(name)
            looks = word[:1].isupper() and len(places) > 1 and not marked
            looks = name not in stated and (looks or (f"?{name}" in variables and rules_with[name] == 1))
            if name not in reported and (looks or name == "_"):
                reported.add(name)
                meant = f"?{word}" if looks else "a variable that occurs only here, such as ?_any"
                message = f"{word!r} is a constant: variables begin with '?'"
                yield _VARIABLE_WITHOUT_MARK.at(places[0], message, remedy=f"write {meant}")


def _constants(rule: Rule) -> dict[str, list[Place]]:
    """The constants of a rule with a body, and where each stands."""
    places: dict[str, list[Place]] = {}
    for atom, place in atoms_of(rule) if rule.body else ():
        for term in reversed(list(subterms(atom))):
            if not term.args and not term.is_variable:
                places.setdefault(term.name, []).append(place)
    return places


_MISSPELT_KEYWORD = warning("misspelt-keyword", "write the keyword")

_HEADS = (ROLE, INIT, NEXT, LEGAL, GOAL, TERMINAL, BASE, INPUT)
_LIKENESS = 0.75
_MOST_WORDS = 500
"""No more words are compared with one: hostile texts have thousands of names, none of them defined."""


def check_spelling(rules: Rules) -> Iterator[Diagnostic]:
    """Heads that no rule asks for, and relations that none defines, whose names are nearly keywords."""
    defined: dict[Signature, Rule] = {}
    read: dict[Signature, Place] = {}
    for rule in rules:
        defined.setdefault(rule.head.signature, rule)
        for literal, _ in body_literals(rule):
            read.setdefault(literal.atom.signature, literal.place)
    for (name, arity), rule in defined.items():
        if name not in ARITIES and (name, arity) not in read:
            meant = close_to(name, (word for word in _HEADS if ARITIES[word] == arity))
            # Beside rules of the keyword itself a name must be very close; (int 1) lists numbers.
            listed = arity and rule.head.args[0].name.isdecimal()
            if meant and ((meant, arity) not in defined or (one_slip_from(name, [meant]) and not listed)):
                yield _misspelt(rule.place, name, meant)
    for (name, arity), place in read.items():
        if name not in ARITIES and (name, arity) not in defined and not is_foreign(name):
            words = [word for word in ARITIES if ARITIES[word] == arity] + list(CONNECTIVES)
            if meant := close_to(name, words):
                yield _misspelt(place, name, meant)


def _misspelt(place: Place, name: str, meant: str) -> Diagnostic:
    return _MISSPELT_KEYWORD.at(place, f"{name!r} is not a keyword: did you mean {meant!r}?")


def close_to(name: str, words: Iterable[str]) -> str:
    """The word that a name is probably meant to be; empty if none is close."""
    candidates = [word for word in islice(words, _MOST_WORDS) if word != name]
    same = [word for word in candidates if _one_slip(name, word)]
    close = same or difflib.get_close_matches(name, candidates, 1, _LIKENESS)
    return close[0] if close else ""


def one_slip_from(name: str, words: Iterable[str]) -> str:
    """A word of three letters or more that one slip makes the name from; empty if there is none. Words that
    differ in their first letter are two things (``xrow``, ``yrow``), and so are ``row1`` and ``row2``."""
    bare = name.lstrip("?")
    for word in words:
        other = word.lstrip("?")
        numbered = bare.rstrip("0123456789") == other.rstrip("0123456789")
        if min(len(bare), len(other)) > 2 and bare[0] == other[0] and not numbered and _one_slip(bare, other):
            return word
    return ""


def _one_slip(name: str, word: str) -> bool:
    """Whether one letter too many, too few or wrong, or two exchanged, makes the one from the other."""
    if min(len(name), len(word)) < 2 or abs(len(name) - len(word)) > 1:
        return False
    first = next((i for i, (a, b) in enumerate(zip(name, word, strict=False)) if a != b), None)
    if first is None:
        return len(name) != len(word)
    left, right = name[first:], word[first:]
    return (
        left[1:] == right[1:]
        or left[1:] == right
        or left == right[1:]
        or (left[:2] == right[1::-1] and left[2:] == right[2:])
    )
