r"""Rules in the notations that :mod:`gdl.syntax.notation` reads.

>>> from gdl.syntax.parser import parse_rules
>>> rule, = parse_rules("(<= (next ?p) (true ?p) (distinct ?p a) (not (or halt (does x ?Move))))")
>>> print(sentence_writer(_INFIX_SIGNS)(rule, {}))
next(P) :-
  true(P) &
  distinct(P,a) &
  ~(halt | does(x,Move))
>>> print(sentence_writer(_PROLOG_SIGNS)(rule, {}))
next(P) :-
  true(P),
  dif(P,a),
  \+ (halt ; does(x,Move)).

What KIF can say and infix cannot, a disjunction of one formula or none, is infix ``or(a)`` and ``or()``.
In Prolog these are ``a`` and ``fail``, the conjunctions ``a`` and ``true``.

For messages it writes parts of rules as their author does, in the notation and the spelling of the text:

>>> from gdl.syntax.parser import parse_rules
>>> rules = parse_rules("role(x) legal(x,Move) :- true(can(Move))")
>>> write = OwnNotation(rules)
>>> write.term(rules.rules[1].head), write.formula(rules.rules[1].body[0]), write.sample("write (not ...)")
('legal(x,Move)', 'true(can(Move))', 'write ~...')
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, literals
from gdl.syntax.grammar import ANONYMOUS
from gdl.syntax.sexpr import formula_to_kif
from gdl.terms import DISTINCT, Term


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of a notation, for writing.

    Attributes:
        conjunction, disjunction, negation: with the blanks around them.
        stop: ends a sentence.
        bare: names that need no quotes match it.
        lowers: whether a capital letter that begins a name may become a small one.
        distinct: what ``distinct`` is called.
        words: names that mean something else unless they are quoted.
        calls: whether ``or(a)`` can be written where ``a`` is all that the disjunction holds.
    """

    conjunction: str
    disjunction: str
    negation: str
    stop: str
    bare: re.Pattern[str]
    lowers: bool
    distinct: str
    words: frozenset[str]
    calls: bool


_INFIX_SIGNS = Signs(
    " &", " | ", "~", "", re.compile(r"[a-z0-9][A-Za-z0-9_]*"), True, DISTINCT, frozenset(), True
)
_PROLOG_SIGNS = Signs(
    ",",
    " ; ",
    "\\+ ",
    ".",
    re.compile(r"[a-z][A-Za-z0-9_]*|0|-?[1-9][0-9]*"),
    False,
    "dif",
    frozenset(["dif", "not", "fail", "false", "is", "mod", "rem", "xor", "div", "rdiv"]),
    False,
)


SIGNS = {"infix": _INFIX_SIGNS, "prolog": _PROLOG_SIGNS}
"""By the notation's name."""


def sentence_writer(signs: Signs) -> Callable[[Rule, dict[str, str]], str]:
    """Writes a rule or fact, without a line end, each literal of a body on a line of its own; names are
    spelled as the dictionary says."""

    def write(rule: Rule, spelling: dict[str, str]) -> str:
        atoms = [rule.head, *(literal.atom for part in rule.body for literal, _ in literals(part))]
        writer = _Writer(spelling, signs, Counter(v.name for atom in atoms for v in atom.variables()))
        head = writer.term(rule.head)
        if not rule.body:
            return head + signs.stop
        if len(rule.body) == 1:
            # A conjunction that stands alone keeps its parentheses: it is one literal.
            alone = writer.formula(rule.body[0], isinstance(rule.body[0], And))
            return f"{head} :- {alone}{signs.stop}"
        lines = f"{signs.conjunction}\n  ".join(writer.formula(part, True) for part in rule.body)
        return f"{head} :-\n  {lines}{signs.stop}"

    return write


class _Writer:
    """Writes the parts of one rule; its variables get names that the notation can spell, each another one.
    ``count``: how often each variable occurs; one that came from ``_`` and occurs again gets a name."""

    def __init__(
        self, spelling: dict[str, str], signs: Signs = _INFIX_SIGNS, count: Counter[str] | None = None
    ) -> None:
        self._spelling = spelling
        self._signs = signs
        self._count = count
        self._variables: dict[str, str] = {}
        self._taken: set[str] = set()

    def term(self, term: Term) -> str:
        """A term, or an atom."""
        if term.is_variable:
            return self._variable(term.name)
        return self._call(self._name(term.name), term.args)

    def formula(self, formula: Formula, inside: bool) -> str:
        """A formula; ``inside`` one that would bind closer, disjunctions and conjunctions in parentheses."""
        signs = self._signs
        match formula:
            case Literal(atom):
                return self._literal(atom)
            case Not(inner):
                return f"{signs.negation}{self.formula(inner, True)}"
            case And(parts) | Or(parts) if len(parts) < 2 and signs.calls:
                return self._as_call(formula)
            case And(()):
                return "true"
            case Or(()):
                return "fail"
            case And((only,)) | Or((only,)):
                return self.formula(only, inside)
            case And(parts):
                text = f"{signs.conjunction} ".join(self.formula(part, True) for part in parts)
            case Or(parts):
                text = signs.disjunction.join(self.formula(part, True) for part in parts)
        return f"({text})" if inside else text

    def _literal(self, atom: Term) -> str:
        if atom.signature == (DISTINCT, 2):
            return self._call(self._signs.distinct, atom.args)
        if atom.name == "true" and not atom.args and not self._signs.calls:
            return "'true'"
        return self.term(atom)

    def _call(self, name: str, args: tuple[Term, ...]) -> str:
        return f"{name}({','.join(map(self.term, args))})" if args else name

    def _as_call(self, formula: Formula) -> str:
        """A formula as a term, as KIF has it."""
        match formula:
            case Literal(atom):
                return self.term(atom)
            case Not(inner):
                return f"not({self._as_call(inner)})"
            case And(parts):
                return f"and({','.join(map(self._as_call, parts))})"
            case Or(parts):
                return f"or({','.join(map(self._as_call, parts))})"

    def _name(self, name: str) -> str:
        spelled = self._spelling.get(name, name)
        candidates = [spelled, spelled[:1].lower() + spelled[1:], name] if self._signs.lowers else [spelled]
        for candidate in candidates:
            if self._signs.bare.fullmatch(candidate) and candidate not in self._signs.words:
                return candidate
        return "'" + re.sub(r"(['\\])", r"\\\1", spelled) + "'"

    def _variable(self, name: str) -> str:
        chosen = self._variables.get(name)
        if chosen is None:
            if name.startswith(ANONYMOUS) and (self._count is None or self._count[name] == 1):
                return "_"
            bare = re.sub(r"[^A-Za-z0-9_]", "_", self._spelling.get(name, name)[1:])
            if bare[:1].isalpha():
                bare = bare[:1].upper() + bare[1:]
            elif not (bare.startswith("_") and bare.strip("_")):
                bare = f"V{bare}"
            chosen, number = bare, 1
            while chosen.lower() in self._taken:
                number += 1
                chosen = f"{bare}_{number}"
            self._taken.add(chosen.lower())
            self._variables[name] = chosen
        return chosen


_SAMPLE = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_PART = re.compile(r"[()]|[^\s()]+")


class OwnNotation:
    """Writes terms and formulas in the notation that the rules were read in. Game managers and programs are
    sent KIF, which is :meth:`gdl.rules.Rules.spell`."""

    def __init__(self, rules: Rules) -> None:
        self._spelling = rules.spelling
        self._signs = SIGNS.get(rules.notation)

    def name(self, name: str) -> str:
        """A relation's, function's or constant's name as the rules spell it."""
        return self._spelling.get(name, name)

    def term(self, term: Term) -> str:
        """A term, or an atom."""
        if self._signs is None:
            return term.spelled(self._spelling)
        return _Writer(self._spelling, self._signs).term(term)

    def formula(self, formula: Formula) -> str:
        """A part of a body."""
        if self._signs is None:
            return formula_to_kif(formula, self._spelling)
        return _Writer(self._spelling, self._signs).formula(formula, False)

    def joined(self, connective: str, parts: list[str]) -> str:
        """Formulas, as they are written, below ``not``, ``and`` or ``or``."""
        if self._signs is None:
            return f"({' '.join([connective, *parts])})"
        return _joined(connective, parts, self._signs)

    def sample(self, advice: str) -> str:
        """Advice whose samples are KIF, ``write (role name)``, with samples in the notation of the rules."""
        signs = self._signs
        return advice if signs is None else _SAMPLE.sub(lambda found: _with_signs(found[0], signs), advice)


def _with_signs(sample: str, signs: Signs) -> str:
    """A sample of KIF in another notation. Dots in samples mark omitted parts."""
    parts: list[str] = _PART.findall(sample)
    place = 0

    def read() -> str:
        nonlocal place
        word = parts[place]
        place += 1
        if word != "(":
            return word[1:2].upper() + word[2:] if word[0] == "?" else word
        inner: list[str] = []
        while parts[place] != ")":
            inner.append(read())
        place += 1
        name, rest = inner[0], inner[1:]
        match name:
            case "<=":
                return f"{rest[0]} :- {f'{signs.conjunction} '.join(rest[1:])}{signs.stop}"
            case "not":
                return _joined(name, rest, signs)
            case "and" | "or":
                return _joined(name, rest if len(rest) > 1 else ["a", "b"], signs)
        return f"{name}({','.join(rest)})" if rest else f"({name})"

    return read()


def _joined(connective: str, parts: list[str], signs: Signs) -> str:
    if connective == "not":
        return f"{signs.negation}{' '.join(parts)}"
    sign = f"{signs.conjunction} " if connective == "and" else signs.disjunction
    return f"({sign.join(parts)})"
