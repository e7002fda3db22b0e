r"""The notations that rules are written in, in one table; how a text is seen to be in one of
them (it looks like KIF, infix GDL or Prolog); and infix GDL and Prolog.

Infix GDL: ``legal(W,mark(X,Y)) :- true(cell(X,Y,b)) & ~true(over)``.

It is the notation of chapter 2 of the Stanford notes on General Game Playing (M. Genesereth, M. Thielscher:
General Game Playing, 2014) and of Gamemaster's rules: a name that begins with a capital letter is a variable,
``_`` another one each time; ``:-`` is read "if", ``&`` "and", ``|`` "or", ``~`` "not"; ``%`` begins a
comment; a sentence ends where the next begins, a full stop behind it may be left out. Beyond that, ``X != Y``
is ``distinct(X,Y)``, ``;`` begins a comment as in KIF, and ``'...'`` holds a name that needs quotes.

Prolog: ``legal(W,noop) :- role(W), \+ true(control(W)).``

It is how rules are written for Prolog systems (ISO/IEC 13211-1) and, but for their ``X != Y`` and ``not a``,
for answer set solvers (clingo): ``,`` is read "and", ``;`` "or", ``\+`` and ``not`` "not"; each sentence ends
with a full stop. ``dif(X,Y)``, ``X \= Y`` and ``X \== Y`` are ``distinct(X,Y)``; ``true`` and ``fail`` alone
always and never hold. Upper and lower case of variables differ. Directives that say nothing about
the game are skipped with a remark, all others are faults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, get_args

from gdl.errors import GdlError, ParseError
from gdl.reading import plain
from gdl.rules import Rule
from gdl.syntax.grammar import COLUMN_1, Grammar, atoms
from gdl.syntax.sexpr import (
    Atom,
    Group,
    SExpr,
    Source,
    check_is_text,
    comment_mark,
    kif_comments,
    read,
    read_kif_past_faults,
    sentence_to_kif,
)
from gdl.syntax.writer import SIGNS, sentence_writer
from gdl.visible import first_forbidden

if TYPE_CHECKING:
    import pyparsing as pp

_IGNORED = frozenset(
    [
        *(
            "dynamic",
            "discontiguous",
            "multifile",
            "table",
            "module",
            "use_module",
            "ensure_loaded",
            "public",
        ),
        *("set_prolog_flag", "style_check", "encoding", "initialization", "license"),
        *("#show", "#defined", "#hide"),
    ]
)
"""Directives that do not change what rules mean."""
_QUOTED = r"'(?:[^'\\\n]|\\[^\n]|'')*'"
_PROLOG_DIRECTIVE = rf"(?::-|\?-|#)(?:{_QUOTED}|\"[^\"\n]*\"|[^.'\"])*\."
_ITS_NAME = re.compile(r"(:-|\?-|#)\s*(\w*)")
_WITHOUT_OPERATOR = re.compile(r"[\w)\]}](?<!not)\s+(?!as\b)[\w'(]")
_NAMED = re.compile(rf"{_QUOTED}|\b(_+[a-z]\w*)\(")
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?!\w)"
_ESCAPE = re.compile(r"''|\\(x[0-9A-Fa-f]+\\|.)")
_ESCAPED = dict(zip("abefnrstv0", "\a\b\x1b\f\n\r \t\v\0", strict=True))
_STOP = re.compile(rf"{_QUOTED}|\d\.\d|\.\.+|\.")
_UNWRITABLE = re.compile(r"[\s();\x00-\x1f\x7f]+|^(?=$)|^\?")
_STOP_MISSING = "end the sentence before it with a full stop"


class _PrologGrammar(Grammar):
    """The signs of Prolog."""

    code = "not-prolog"
    quoted = _QUOTED
    word = rf"{_QUOTED}|{_NUMBER}|[^\W\d]\w*"
    sign = r"\.\.|/\*|!(?!=)|[-+*/\\^<>=~:.?@#&$!]+"
    comment = re.compile(rf"{_QUOTED}|%[^\n]*|/\*(?s:.*?)(?:\*/|\Z)")
    negation = r"\\\+|\bnot\b(?!')"
    conjunction = ","
    disjunction = r"[;|]"
    unequal = r"\\==?(?![=:])|!=|=\\="
    stop = r"\.(?!\.)"
    shown = (r"'\+'", "','", "';'")
    sample = r"X \= Y"
    must_stop = True

    def spelled(self, word: str) -> str:
        """Without quotes and escapes; a number without zeros before it, as ``007`` is 7."""
        if word.startswith("'"):
            return _ESCAPE.sub(_unescaped, word[1:-1])
        if word.lstrip("-").isdecimal():
            digits = word.lstrip("-").lstrip("0") or "0"
            return f"-{digits}" if word.startswith("-") and digits != "0" else digits
        return word

    def literal(self, part: SExpr, quoted: bool) -> SExpr:
        """``dif(X,Y)``, ``true`` and ``fail`` as KIF has them."""
        if quoted:
            return part
        match part:
            case Group([Atom("dif") as functor, _, _]):
                functor.text = "distinct"
            case Atom("true", at):
                return Group([Atom("and", at)], at, at + len("true") - 1)
            case Atom("fail" | "false" as word, at):
                return Group([Atom("or", at)], at, at + len(word) - 1)
        return part

    def comment_lines(self, comment: str, at: int) -> Iterator[tuple[int, int, str]]:
        """A block comment has several; its stars go, and lines that hold nothing else."""
        if comment.startswith("%"):
            yield from super().comment_lines(comment, at)
            return
        found: list[tuple[int, str]] = []
        begin = at
        for line in comment.removesuffix("*/").split("\n"):
            if words := line.strip().lstrip("/").lstrip("*").removeprefix(" ").rstrip():
                found.append((begin, words))
            begin += len(line) + 1
        ends = [begin for begin, _ in found[1:]] + [at + len(comment)]
        for (begin, words), end in zip(found, ends, strict=bool(found)):
            yield begin, end, words

    def pieces(self, bare: str) -> list[tuple[int, int]]:
        """Each sentence ends with a full stop."""
        ends = [found.end() for found in _STOP.finditer(bare) if found[0] == "."]
        return [(a, b) for a, b in zip([0, *ends], [*ends, len(bare)], strict=True) if bare[a:b].strip()]

    def is_kept(self, found: str) -> bool:
        """Also a comment that nothing ends."""
        return super().is_kept(found) or (found.startswith("/*") and not found.endswith("*/", 2))

    def remedy(self, bare: str, at: int, expected: str) -> str:
        """For what Prolog has and GDL has not, what to write instead."""
        found = self.token(bare, at)
        if expected == "':-' or '.'" and found in (",", ";", "|"):
            return "a head is one relation: write a sentence for each"
        if found == "!":
            return "GDL has no cut: give each rule the conditions under which it holds"
        if found[:1].isdigit():
            return f"write it in quotes, '{found}', or name it otherwise"
        if (
            found not in ("is", "mod")
            and expected.endswith("or '.'")
            and (not found or found[0] in "'_" or found[0].isalpha())
        ):
            return _STOP_MISSING if found else "end the sentence with a full stop"
        return super().remedy(bare, at, expected)

    def sentences(self, parser: pp.ParserElement) -> pp.ParserElement:
        """Also directives."""
        import pyparsing as pp

        directive = pp.Regex(_PROLOG_DIRECTIVE).set_parse_action(
            lambda _, at, found: _Directive(found[0], at)
        )
        return directive.set_name("a relation") | parser

    def taken(self, source: Source, parts: list[SExpr]) -> list[SExpr]:
        """Without directives, and without ``true`` in bodies."""
        sentences: list[SExpr] = []
        for part in parts:
            if isinstance(part, _Directive):
                _pass_over(source, part)
                continue
            if isinstance(part, Group) and isinstance(part.parts[0], Atom) and part.parts[0].text == "<=":
                arrow, head, *body = part.parts
                body = [one for one in body if not _always_holds(one)]
                part = Group([arrow, head, *body], part.offset, part.end) if body else head
            sentences.append(part)
        return sentences

    def settle_names(self, source: Source, parts: list[SExpr]) -> None:
        """Names that KIF cannot have get others, and so do variables that differ in case only. In
        ``_next(a)`` is a name, as in answer set programs."""
        named = {f"?{found[1]}" for found in _NAMED.finditer(self.without_comments(source.text))}
        for atom in atoms(parts):
            if atom.text in named:
                atom.text = atom.text[1:]
        quoted: list[Atom] = []
        for part in parts:
            first: dict[str, str] = {}
            for atom in atoms([part]):
                if source.text.startswith("'", atom.offset):
                    quoted.append(atom)
                elif (
                    atom.text.startswith("?") and first.setdefault(atom.text.lower(), atom.text) != atom.text
                ):
                    # No variable that was read has a hyphen, but for those that stand for "_".
                    atom.text = f"{atom.text}-{''.join('1' if c.isupper() else '0' for c in atom.text[1:])}"
        refused = [atom for atom in quoted if _fit(atom.text) != atom.text]
        if not refused:
            return
        taken = {atom.text.lower() for atom in atoms(parts)}
        names: dict[str, str] = {}
        for atom in refused:
            if atom.text not in names:
                fit, number = _fit(atom.text), 1
                while fit.lower() in taken:
                    number += 1
                    fit = f"{_fit(atom.text)}_{number}"
                taken.add(fit.lower())
                names[atom.text] = fit
                why = "names of GDL hold no blanks, parentheses, ';' or first '?'"
                message = f"{atom.text!r} is read as {fit}: {why}"
                source.remarks.append(source.error(message, atom.offset, "", "name-changed"))
            atom.text = names[atom.text]


class _Directive(Atom):
    """A directive where a sentence may stand."""


def _pass_over(source: Source, directive: Atom) -> None:
    """A remark about a directive. Raises ParseError where the rules need it."""
    found = _ITS_NAME.match(directive.text)
    assert found is not None
    name = "#" + found[2] if found[1] == "#" else found[2]
    if name not in _IGNORED:
        raise source.error(
            f"the directive '{found[0]}' cannot be read"
            if found[1] == "#"
            else f"'{found[0]}' begins a sentence without a head",
            directive.offset,
            "GDL has no constraints, queries or directives; write its rules out without it",
            "unread-directive",
        )
    rest = _WITHOUT_OPERATOR.search(directive.text, found.end())
    if rest is not None:
        raise source.error(
            f"expected '.' at the end of the directive '{found[0]}', found the next sentence",
            directive.offset + rest.end() - 1,
            "end it with a full stop",
            _PrologGrammar.code,
        )
    message = f"the directive '{found[0]}' is passed over"
    source.remarks.append(
        source.error(message, directive.offset, "remove it: GDL has none", "ignored-directive")
    )


def _always_holds(part: SExpr) -> bool:
    return isinstance(part, Group) and len(part.parts) == 1 and _is(part.parts[0], "and")


def _is(part: SExpr, word: str) -> bool:
    return isinstance(part, Atom) and part.text == word


def _unescaped(found: re.Match[str]) -> str:
    if found[0] == "''":
        return "'"
    escape = found[1]
    if escape[0] == "x" and len(escape) > 1:
        number = int(escape[1:-1], 16)
        return chr(number) if number < 0x110000 else ""
    return _ESCAPED.get(escape, escape)


def _fit(name: str) -> str:
    """The nearest name that KIF can have."""
    fit = _UNWRITABLE.sub("_", name)
    return "".join("_" if first_forbidden(c) >= 0 else c for c in fit) if first_forbidden(fit) >= 0 else fit


PROLOG = _PrologGrammar()


_TOKEN = re.compile(
    r"""
      (?P<skipped> %[^\n]* | /\*(?s:.*?)(?:\*/|\Z) | ;(?:[ \t]*;[^\n]*|[ \t]*(?=\n|\Z)) )
    | (?P<quoted> '(?:[^'\\\n]|\\[^\n])*' )
    | (?P<word> \w+ )
    | (?P<mark> :- | -> | \\\+ | \\==? | != | [^\s\ufeff] )
    """,
    re.VERBOSE,
)
_PROSE = re.compile(r";[^\n]*(?:\b(?!not\b)\w+[ \t]+\w|[!?\"])")
"""A comment as KIF and infix GDL have it: words that no sign joins."""
_COMMENT = re.compile(r"[^\n]*")
_DIRECTIVE = re.compile(r"[^.]*\.")
_OPERATORS = frozenset(["not", "is", "mod"])
_DECIDED = 20
_ONLY_PROLOG = frozenset(["\\+", "\\=", "\\==", "->", "#"])


def votes(text: str) -> int | None:
    """None where a text looks like KIF; otherwise how much more it looks like Prolog than like infix GDL.

    Signs that only one of the two has count one: ``&`` and ``~``, and ``,`` between literals, ``\\+``, block
    comments, directives and others. A sentence that begins where the one before has no full stop counts two.
    Where all this says nothing, a full stop at the end does.
    """
    balance = depth = 0
    called = False  # whether anything stands that KIF has not
    before = ""  # the token before: "word" for names and for the end of a group
    position = 0
    while found := _TOKEN.search(text, position):
        position = found.end()
        mark = found["mark"]
        if found["skipped"]:
            balance += found[0].startswith("/*")
            continue
        if mark == ";" and (not before or before in ".;" or _PROSE.match(text, found.start())):
            position = _COMMENT.match(text, position).end()  # type: ignore[union-attr]
            continue
        if not before and mark in ("(", ")"):
            return None
        if mark is None:
            operator = found[0] in _OPERATORS
            if before == "word" and not depth:
                balance += 1 if operator else -2
            before = found[0] if operator else "word"
            continue
        if mark in (":-", "#") and before in ("", ".") and (directive := _DIRECTIVE.match(text, position)):
            balance, called, before, position = balance + 3, True, ".", directive.end()
            continue
        match mark:
            case "(":
                called = called or (before == "word" and not text[found.start() - 1].isspace())
                if not (before == "word" and text[found.start() - 1].isspace()) or depth:
                    depth += 1
            case ")":
                depth = max(0, depth - 1)
            case ":-" | ".":
                called = called or mark == ":-"
                depth = 0
            case "&" | "~":
                balance -= 1
            case ",":
                balance += not depth
            case _:
                balance += mark in _ONLY_PROLOG
        before = "word" if mark == ")" else mark
        if called and abs(balance) >= _DECIDED:
            return balance
    if not called:
        return None
    return balance or (1 if before == "." else -1)


class _InfixGrammar(Grammar):
    """The signs of infix GDL."""

    code = "not-infix"
    quoted = r"'(?:[^'\\\n]|\\[^\n])*'"
    word = rf"{quoted}|[A-Za-z0-9_]+"
    sign = r":-|!=|\.\.|&&|\|\||\\[+=]=?|[-<>=]{2,3}"
    comment = re.compile(rf"{quoted}|[%;][^\n]*")
    negation = "~"
    conjunction = "&"
    disjunction = r"\|"
    unequal = "!="
    shown = ("'~'", "'&'", "'|'")
    sample = "X != Y"
    must_stop = False

    def pieces(self, bare: str) -> list[tuple[int, int]]:
        """Each sentence should begin in column 1, and go on in lines that do not."""
        starts = [0, *(found.start() for found in COLUMN_1.finditer(bare) if found.start())]
        return list(zip(starts, [*starts[1:], len(bare)], strict=True))

    def remedy(self, bare: str, at: int, expected: str) -> str:
        """Also for comments of other languages, and characters of word processors."""
        if comment_mark(bare, at, "%") and (at == 0 or bare[at - 1] == "\n"):
            return "begin comments with '%'"
        return super().remedy(bare, at, expected)


INFIX = _InfixGrammar()

Notation = Literal["auto", "kif", "infix", "prolog"]
"""A notation's name, or ``auto`` to detect it from the text."""
_Spelling = dict[str, str]
_Parsed = tuple[Source, list[SExpr]]


@dataclass(frozen=True, slots=True)
class Form:
    """One notation: its names, readers and writer. All use the expressions of KIF (:mod:`gdl.syntax.sexpr`).
    The readers take a text and its name for messages, and raise ParseError.

    Attributes:
        name: its name.
        shown: its name on pages and in messages.
        endings: the suffixes of its files.
        mark: begins a comment.
        read: the sentences of a text.
        read_terms: a run of terms.
        read_past_faults: the sentences that can be read, and the faults of the others.
        comments: the comments of a text: begin and end of each line, and its words.
        write: a rule on its own lines, with the given spelling of names.
    """

    name: Notation
    shown: str
    endings: tuple[str, ...]
    mark: str
    read: Callable[[str, str], _Parsed]
    read_terms: Callable[[str, str], _Parsed]
    read_past_faults: Callable[[str, str], tuple[Source, list[SExpr], list[ParseError]]]
    comments: Callable[[Source], Iterator[tuple[int, int, str]]]
    write: Callable[[Rule, _Spelling], str]


KIF = Form(
    "kif", "prefix", (".kif", ".gdl"), ";", read, read, read_kif_past_faults, kif_comments, sentence_to_kif
)
FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        KIF,
        Form(
            "infix",
            "infix",
            (".hrf",),
            "%",
            INFIX.read,
            INFIX.read_terms,
            INFIX.read_past_faults,
            INFIX.comments,
            sentence_writer(SIGNS["infix"]),
        ),
        Form(
            "prolog",
            "prolog",
            (".pl", ".lp", ".prolog"),
            "%",
            PROLOG.read,
            PROLOG.read_terms,
            PROLOG.read_past_faults,
            PROLOG.comments,
            sentence_writer(SIGNS["prolog"]),
        ),
    )
}
"""All notations by name."""


def named_notation(name: str) -> Notation:
    """The notation of this name, whatever its case; KIF is also called ``prefix``. Raises GdlError if
    there is none."""
    for candidate in get_args(Notation):
        if name.lower() in (candidate, FORMS[candidate].shown if candidate in FORMS else candidate):
            return candidate  # type: ignore[no-any-return]
    raise GdlError(f"there is no notation {name!r}", remedy=f"choose {', '.join(get_args(Notation))}")


def form_of(text: str, notation: Notation = "auto", name: str = "") -> Form:
    """The notation that a text is to be read in.

    By its look it is KIF where its first sentence begins with a parenthesis, or neither ``:-`` nor a name
    directly before a ``(`` stands anywhere. Otherwise the ending of ``name``, a file's, decides, or else
    signs that only one of the others has, as far as there are more of them.

    >>> [form_of(text).name for text in ("(role x)", "role(x) p :- q & r", "role(x). p :- q, r.")]
    ['kif', 'infix', 'prolog']
    """
    check_is_text(text)
    if notation != "auto":
        return FORMS[notation]
    found = votes(plain(text))
    if found is None:
        return KIF
    ending = PurePath(name).suffix.lower()
    for form in FORMS.values():
        if ending in form.endings and form is not KIF:
            return form
    return FORMS["prolog" if found > 0 else "infix"]
