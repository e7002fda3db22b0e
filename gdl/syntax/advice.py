"""Replacements for signs that a notation with operators lacks: those of the other notations, of logic
programs and of programming languages.
"""

from __future__ import annotations

import re

_INSIDE = re.compile(r"\(([^()]*)")
_ARROW = "write ':-', with the head before it"
_EQUATION = "GDL has no equations: write one variable or constant in both places; {unequal} is understood"
_ARITHMETIC = "GDL has no arithmetic: write the numbers as facts, succ(1,2)"
_ADVICE = {
    "->": "GDL has no if-then-else: write a rule for each case, (a, b ; \\+ a, c) for (a -> b ; c)",
    "[": "GDL has no lists: write a function, pair(X,Y)",
    "{": "GDL has no choices: legal says who may do what",
    "#": "GDL has no aggregates: count step by step, in the state or by a relation for each number",
    '"': "write a name in single quotes",
    "..": "GDL has no intervals: write the facts one by one",
    ":-": "a sentence has one ':-', and one head before it",
    "'": "close the quote",
    "/*": "close the comment with '*/'",
    **dict.fromkeys(("=", "=="), _EQUATION),
    **dict.fromkeys(("-->", "<-", "=>", "<="), _ARROW),
    **dict.fromkeys("is + - * / < > =< >= =:= mod // **".split(), _ARITHMETIC),  # noqa: SIM905
    **dict.fromkeys(("~", "\\+", "!"), "write {negation} for 'not'"),
    **dict.fromkeys((",", "&", "&&"), "write {conjunction} for 'and'"),
    **dict.fromkeys(("|", "||", ";"), "write {disjunction} for 'or'"),
    **dict.fromkeys(("!=", "\\=", "\\==", "=\\="), "write {unequal}"),
}
_MISSING = {
    ")": ("a name", "write an argument, or leave the ',' before it out"),
    ",": ("a name", "write an argument before it"),
    "": ("',' or ')'", "close the parenthesis"),
}


def advice(found: str, bare: str, at: int, expected: str, shown: tuple[str, str, str], unequal: str) -> str:
    """The remedy for an unexpected sign, or for the end (""), at a place of a text; empty if there is none.
    ``shown``: negation, conjunction and disjunction of the notation."""
    negation, conjunction, disjunction = shown
    where, missing = _MISSING.get(found, ("-", ""))
    if expected.startswith(where):
        return missing
    if not found:
        return (
            "write the rest of the sentence" if expected.startswith("a relation") else "close the parenthesis"
        )
    if found == ")":
        return "remove it, or open it with '('"
    if repr(found) in shown:
        twice = bare[at - 1 : at] == found
        return "write it once" if twice else "" if expected != "',' or ')'" else "write a sentence for each"
    if expected == "',' or ')'" and (found[0].isalnum() or found[0] == "_"):
        return "write ',' between arguments"
    if found == "(":
        inside = _INSIDE.match(bare, at)
        what = "" if inside is None else inside[1]
        if "," in what:
            return f"GDL has no tuples: write a function, pair({what})"
        return _ARITHMETIC if set(what) & set("+-*/") else ""
    return _ADVICE.get(found, "").format(
        negation=negation, conjunction=conjunction, disjunction=disjunction, unequal=unequal
    )
