"""Checks rules: every way in which they break the language, or may not mean what was meant.

>>> from gdl.checks.run import check_text
>>> rules, findings = check_text("(role you) (<= (legal you ?m) (true (can ?move)))")
>>> [d.code for d in findings if d.code.startswith("unsafe")]
['unsafe-head-variable']

The language is that of Love, Hinrichs, Haley, Schkufza, Genesereth: "General Game Playing:
Game Description Language Specification" (Stanford LG-2006-01, 2008).

One slip gives one finding: a misspelt name leaves a variable of its rule without a value, then rules that can
never fire, a role without moves and a game without an end. Such consequences are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

from gdl.checks.diagnostic import (
    KINDS,
    Diagnostic,
    Kind,
    Severity,
    error,
    first_each,
    in_order,
    info,
    of_error,
    warning,
)
from gdl.checks.foreign import check_foreign, check_spelling
from gdl.checks.relations import check_relations, check_sentences, check_values
from gdl.compile.pipeline import compile_rules
from gdl.compile.stratify import components, flow_of
from gdl.errors import GdlError, ParseError, Place, TooLargeError
from gdl.hints import WordHint, read_hints, read_word_hints
from gdl.phrases import phrase_of
from gdl.rules import Literal, Rule, Rules, Signature, body_literals, subterms
from gdl.syntax.notation import KIF, Notation, form_of
from gdl.syntax.parser import Reader
from gdl.syntax.preface import read_preface
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
from gdl.syntax.variants import read_sizes
from gdl.syntax.writer import OwnNotation
from gdl.terms import (
    BASE,
    DISTINCT,
    DOES,
    GOAL,
    INIT,
    INPUT,
    LEGAL,
    NEXT,
    RANDOM,
    ROLE,
    SEES,
    TERMINAL,
    TRUE,
    Term,
)
from gdl.words import counted

_MISSING_ROLE = error("missing-role", "write (role name) for each player")
_MISSING_LEGAL = error("missing-legal", "write legal rules that say who may do what")
_MISSING_TERMINAL = warning("missing-terminal", "write a terminal rule that says when a match is over")
_MISSING_GOAL = warning("missing-goal", "write goal rules that say what an outcome is worth")
_MISSING_INIT = warning("missing-init", "write (init ...) for each fact of the initial state")
_MISSING_NEXT = warning("missing-next", "write next rules that say what moves change")
_NOT_KEPT = warning("state-not-kept", "write a next rule that keeps it, or use facts without init")
_GOAL_NOT_NUMBER = warning("goal-not-number", "write an integer from 0 to 100")
_GOAL_OUT_OF_RANGE = warning("goal-out-of-range", "scale the goals to 0..100")
_GOAL_MISSING_FOR_ROLE = warning("goal-missing-for-role", "write goal rules for it")
_LEGAL_MISSING_FOR_ROLE = warning(
    "legal-missing-for-role", "write legal rules for it, a noop if nothing else"
)
_BASE_INCOMPLETE = warning("base-incomplete", "write a base rule for it, or drop all base rules")
_INPUT_INCOMPLETE = warning("input-incomplete", "write an input rule for it, or drop all input rules")


def check_game(rules: Rules) -> Iterator[Diagnostic]:
    """Findings about what a game must have and about the relations GDL gives a meaning."""
    by_head: dict[Signature, list[Rule]] = defaultdict(list)
    for rule in rules:
        by_head[rule.head.signature].append(rule)
    needed = (
        ((ROLE, 1), _MISSING_ROLE, "the game has no roles"),
        ((LEGAL, 2), _MISSING_LEGAL, "the game has no legal moves"),
        ((TERMINAL, 0), _MISSING_TERMINAL, "no match of the game ever ends"),
        ((GOAL, 2), _MISSING_GOAL, "the game has no goals"),
        ((INIT, 1), _MISSING_INIT, "nothing is true at first"),
        ((NEXT, 1), _MISSING_NEXT, "nothing is true after the first move"),
    )
    for signature, kind, message in needed:
        if signature not in by_head:
            yield kind.at(Place(), message)
    own = OwnNotation(rules)
    yield from _goals(by_head[GOAL, 2], own)
    yield from _roles(by_head, own)
    yield from _not_carried_over(by_head, own)
    yield from _coverage(by_head, own)


def _goals(goals: list[Rule], own: OwnNotation) -> Iterator[Diagnostic]:
    for rule in goals:
        value = rule.head.args[1]
        digits = value.name.removeprefix("-")
        if value.is_variable:
            continue
        if value.args or not (digits.isascii() and digits.isdecimal()):
            yield _GOAL_NOT_NUMBER.at(rule.place, f"the goal value {own.term(value)} is not a number")
        elif value.name.startswith("-") or len(digits.lstrip("0")) > 3 or int(digits) > 100:
            yield _GOAL_OUT_OF_RANGE.at(rule.place, f"the goal value {own.term(value)} is not in 0..100")


def _roles(by_head: dict[Signature, list[Rule]], own: OwnNotation) -> Iterator[Diagnostic]:
    """Roles without goals or moves."""
    definitions = by_head[ROLE, 1]
    if not definitions or any(r.body or not r.head.ground for r in definitions):
        return  # not known without evaluating rules
    roles = {rule.head.args[0]: rule.place for rule in definitions}
    for relation, kind, what in (
        (GOAL, _GOAL_MISSING_FOR_ROLE, "no goal"),
        (LEGAL, _LEGAL_MISSING_FOR_ROLE, "no legal moves"),
    ):
        provided = {rule.head.args[0] for rule in by_head[relation, 2]}
        if provided and all(term.ground for term in provided):
            for role, place in roles.items():
                if role not in provided and not (role is RANDOM and relation == GOAL):
                    yield kind.at(place, f"the role {own.term(role)} has {what}")


def _not_carried_over(by_head: dict[Signature, list[Rule]], own: OwnNotation) -> Iterator[Diagnostic]:
    """Propositions that are true at first and that no next rule can make true again: a game remembers only
    the facts that its next rules give."""
    later = by_head[NEXT, 1]
    if any(rule.head.args[0].is_variable for rule in later) or not later:
        return
    carried_over = {rule.head.args[0].signature for rule in later}
    first: dict[Signature, list[Rule]] = defaultdict(list)
    for rule in by_head[INIT, 1]:
        first[rule.head.args[0].signature].append(rule)
    for subject, starts in first.items():
        if len(starts) > 1 and subject not in carried_over and not starts[0].head.args[0].is_variable:
            message = f"no next rule has {own.name(subject[0])!r}: none of it is true after the first move"
            yield _NOT_KEPT.at(starts[0].place, message)


def _coverage(by_head: dict[Signature, list[Rule]], own: OwnNotation) -> Iterator[Diagnostic]:
    """Facts that base and input rules leave out, if there are such rules."""
    for declaration, kind, relations, what in (
        ((BASE, 1), _BASE_INCOMPLETE, ((INIT, 1), (NEXT, 1)), "base"),
        ((INPUT, 2), _INPUT_INCOMPLETE, ((LEGAL, 2),), "input"),
    ):
        declared = [rule.head.args[-1] for rule in by_head[declaration]]
        if not declared or any(term.is_variable for term in declared):
            continue
        functors = {term.signature for term in declared}
        facts = set(declared) if all(not r.body for r in by_head[declaration]) else None
        heads = [rule for signature in relations for rule in by_head[signature]]
        yield from first_each(
            (missing, kind.at(rule.place, f"no {what} rule covers {own.term(rule.head.args[-1])}"))
            for rule in heads
            if (missing := _missing(rule.head.args[-1], functors, facts)) is not None
        )


def _missing(subject: Term, functors: set[Signature], facts: set[Term] | None) -> Hashable:
    """The functor, or else the fact, that declarations lack to cover a subject; None if they cover it."""
    if subject.is_variable:
        return None
    if subject.signature not in functors:
        return subject.signature
    return subject if facts is not None and subject.ground and subject not in facts else None


_DOES_IN_LEGAL = warning("does-in-legal", "note the move in the state by a next rule, and ask for that")
_DOES_IN_GOAL = warning("does-in-goal", "note the move in the state by a next rule, and ask for that")
_DOES_IN_TERMINAL = warning("does-in-terminal", "note the move in the state by a next rule, and ask for that")
_TRUE_IN_INIT = warning("true-in-init", "there is no state before the first one: use facts")
_DOES_IN_INIT = warning("does-in-init", "there is no move before the first state: use facts")
_STATE_IN_BASE = warning("state-in-base", "say what can ever be true, not what is true now")
_STATE_IN_INPUT = warning("state-in-input", "say what can ever be legal, not what is legal now")
_ROLE_NOT_GROUND_FACT = warning("role-not-ground-fact", "write one (role name) for each role")
_ROLE_DEPENDS_ON_STATE = warning("role-depends-on-state", "write one (role name) for each role")
_SEES_IN_RULES = warning("sees-in-rules", "ask for the facts that the percept depends on")
_NEGATIVE_CYCLE = warning(
    "negative-cycle", "split the relation in two, so that one can be known before the other"
)
_RECURSION_RESTRICTION = warning(
    "recursion-restriction", "bind the argument by the head or by a literal outside the recursion"
)
_FUNCTION_NESTING_GROWS = warning("function-nesting-grows", "bound the depth, by a counter for instance")

_FORBIDDEN = (
    ((LEGAL, 2), (DOES, 2), _DOES_IN_LEGAL),
    ((GOAL, 2), (DOES, 2), _DOES_IN_GOAL),
    ((TERMINAL, 0), (DOES, 2), _DOES_IN_TERMINAL),
    ((INIT, 1), (TRUE, 1), _TRUE_IN_INIT),
    ((INIT, 1), (DOES, 2), _DOES_IN_INIT),
    ((BASE, 1), (TRUE, 1), _STATE_IN_BASE),
    ((BASE, 1), (DOES, 2), _STATE_IN_BASE),
    ((INPUT, 2), (TRUE, 1), _STATE_IN_INPUT),
    ((INPUT, 2), (DOES, 2), _STATE_IN_INPUT),
    ((ROLE, 1), (TRUE, 1), _ROLE_DEPENDS_ON_STATE),
    ((ROLE, 1), (DOES, 2), _ROLE_DEPENDS_ON_STATE),
    *(
        (head, (SEES, 2), _SEES_IN_RULES)
        for head in ((LEGAL, 2), (GOAL, 2), (TERMINAL, 0), (INIT, 1), (NEXT, 1))
    ),
)
"""Relation, the relation that it must not depend on, the finding. Percepts go to the players: the game itself
knows everything."""


@dataclass(frozen=True, slots=True)
class _Edge:
    target: Signature
    positive: bool
    place: Place


def check_dependence(rules: Rules) -> Iterator[Diagnostic]:
    """Findings about dependencies between the relations of a game."""
    own = OwnNotation(rules)
    graph: dict[Signature, list[_Edge]] = {}
    for rule in rules:
        edges = graph.setdefault(rule.head.signature, [])
        for literal, positive in _relational(rule):
            edges.append(_Edge(literal.atom.signature, positive, literal.place))
            graph.setdefault(literal.atom.signature, [])
    for root, target, kind in _FORBIDDEN:
        if root in graph and target in graph:
            yield from _forbidden(graph, root, target, kind, own)
    for rule in rules:
        if rule.head.signature == (ROLE, 1) and (rule.body or not rule.head.ground):
            yield _ROLE_NOT_GROUND_FACT.at(rule.place, "a role is defined by a rule, not by a ground fact")
    component = _component_of(graph)
    for head, edges in graph.items():
        for edge in edges:
            if not edge.positive and component[head] == component[edge.target]:
                yield _NEGATIVE_CYCLE.at(
                    edge.place,
                    f"{own.name(head[0])!r} depends on its own negation, if its arguments are not looked at",
                )
    for rule in rules:
        yield from _restriction(rule, component, own)
    yield from _growth(rules, own)


def _relational(rule: Rule) -> list[tuple[Literal, bool]]:
    """The literals of a rule's body that read a relation."""
    return [pair for pair in body_literals(rule) if pair[0].atom.name != DISTINCT]


def _forbidden(
    graph: dict[Signature, list[_Edge]], root: Signature, target: Signature, kind: Kind, own: OwnNotation
) -> Iterator[Diagnostic]:
    """A finding for each rule that reads what its head must not, or else one for the shortest way to it."""
    direct = [edge for edge in graph[root] if edge.target == target]
    for edge in direct:
        yield kind.at(edge.place, f"{root[0]!r} depends on {target[0]!r}")
    paths: dict[Signature, tuple[Signature, ...]] = {root: ()}
    queue = deque([] if direct else [root])
    while queue:
        node = queue.popleft()
        for edge in graph[node]:
            if edge.target == target:
                way = ", ".join(repr(own.name(name)) for name, _ in paths[node])
                yield kind.at(edge.place, f"{root[0]!r} depends on {target[0]!r} through {way}")
                return
            if edge.target not in paths:
                paths[edge.target] = (*paths[node], edge.target)
                queue.append(edge.target)


def _component_of(graph: dict[Signature, list[_Edge]]) -> dict[Signature, int]:
    """The number of the strongly connected component of each relation."""
    index = {signature: i for i, signature in enumerate(graph)}
    names = list(index)
    reads = [sorted({index[e.target] for e in edges}) for edges in graph.values()]
    return {names[member]: number for number, members in enumerate(components(reads)) for member in members}


def _restriction(rule: Rule, component: dict[Signature, int], own: OwnNotation) -> Iterator[Diagnostic]:
    """The recursion restriction on every literal that recurses to the head."""
    recursion = component[rule.head.signature]
    recursive = []
    bound = set(subterms(rule.head))
    for literal, positive in _relational(rule):
        if component[literal.atom.signature] == recursion:
            recursive.append(literal)
        elif positive:
            bound.update(subterms(literal.atom))
    for literal in recursive:
        for argument in literal.atom.args:
            if not argument.ground and argument not in bound:
                yield _RECURSION_RESTRICTION.at(
                    literal.place, f"the argument {own.term(argument)} of a recursive literal is not bounded"
                )


def _growth(rules: Rules, own: OwnNotation) -> Iterator[Diagnostic]:
    """Rules that put an ever deeper term around a value of their own making."""
    growing = flow_of(rules).growing()
    for rule in rules if growing else ():
        alone = flow_of([rule])
        wraps = any(inner in growing and outer in growing for inner, outer in alone.nests)
        if wraps and any(sources and sources <= growing and to in growing for sources, to in alone.copies):
            yield _FUNCTION_NESTING_GROWS.at(
                rule.place, f"each use of this rule can nest the terms in {own.name(rule.head.name)!r} deeper"
            )


_FOREIGN_CHARACTER = warning("foreign-character", "leave it out")
_FOREIGN_COMMENT = warning("foreign-comment", "begin comments with ';'")

_HINT = info("hint", "write: say: MOVE as WORDS, or ends: CONDITION as WORDS")

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
    words, wrong_words = read_word_hints(source.text)
    wrong += wrong_words + read_preface(source.text)[1] + read_sizes(source.text)[1]
    findings += [_HINT.at(hint.place, hint.message, remedy=hint.remedy) for hint in wrong]
    if form is KIF and all(fault.code != "foreign-bracket" for fault in faults):
        findings += _check_characters(text)
    whole = Rules(tuple(rules), reader.spelling, name, form.name, hints, words)
    return whole, findings + [d for hint in words for d in _meaningless(hint, whole)]


def _meaningless(hint: WordHint, rules: Rules) -> Iterator[Diagnostic]:
    try:
        phrase_of(hint, rules)
    except GdlError as fault:
        yield _HINT.at(hint.place, fault.message, remedy=fault.remedy or _HINT.remedy)


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


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SLIPS = _codes(
    """arity-mismatch connective-alone function-arity-mismatch init-in-body keyword-arity keyword-as-head
    keyword-in-term misspelt-keyword misspelt-relation misspelt-variable move-without-does next-in-body
    not-in-gdl relation-as-value state-without-next state-without-true undefined-relation unknown-role
    variable-without-mark"""
)
"""Kinds of faults that are confined to one place."""
_OF_RULE = _codes(
    """contradictory-body next-in-body no-such-value rule-implies-itself singleton-variable
    unsafe-distinct unsafe-head-variable unsafe-negated-variable"""
)
"""Kinds that follow from a slip in the same rule."""
_MISSING = _codes("missing-role missing-legal missing-terminal missing-goal missing-init missing-next")
_NEVER = _codes("move-never-legal proposition-never-true")
_VALUE = _codes("no-such-value")
_OF_GAME = _codes(
    """base-incomplete does-in-goal does-in-init does-in-legal does-in-terminal goal-missing-for-role
    input-incomplete legal-missing-for-role negative-cycle recursion-restriction role-depends-on-state
    role-not-ground-fact state-in-base state-in-input state-not-kept true-in-init unreachable-rule
    unused-relation"""
)
"""Kinds that follow from a slip, or from a missing part, anywhere in the game."""


def roots_of(findings: Iterable[Diagnostic], rules: Rules) -> list[Diagnostic]:
    """The findings that do not follow from others. At each place only the worst one stays, or the first of
    equally bad ones, so put the causes first. Errors always stay: rules without errors can be played."""
    starts = sorted((rule.place.line, rule.place.column) for rule in rules)

    def rule_at(place: Place) -> int:
        return bisect_right(starts, (place.line, place.column))

    by_place: dict[tuple[Place, str], Diagnostic] = {}
    for finding in sorted(findings, key=lambda d: -d.severity):
        by_place.setdefault((finding.place, "" if finding.place.line else finding.message), finding)
    worst = list(by_place.values())
    codes = {d.code for d in worst}
    follows: frozenset[str] = frozenset()
    for causes, effects in (
        (_SLIPS, _MISSING | _NEVER | _VALUE | _OF_GAME),
        (_MISSING, _NEVER | _VALUE | _OF_GAME),
        (_NEVER, _VALUE | _OF_GAME),
        (_VALUE, _OF_GAME),
        ({"keyword-as-head", "keyword-in-term", "connective-in-term"}, {"undefined-relation"}),
    ):
        if not codes.isdisjoint(causes):
            follows |= effects
    faulty = {rule_at(d.place) for d in worst if d.code in _SLIPS - _OF_RULE}
    doubtful = faulty | {rule_at(d.place) for d in worst if d.code in _VALUE - follows}

    def is_root(d: Diagnostic) -> bool:
        if d.severity is Severity.ERROR:
            return True
        at_fault = faulty if d.code in _VALUE else doubtful
        return not (d.code in follows or (d.code in _OF_RULE and rule_at(d.place) in at_fault))

    return _at_their_slips([d for d in worst if is_root(d)])


def _at_their_slips(findings: list[Diagnostic]) -> list[Diagnostic]:
    """The findings, with an error such as a missing ``legal`` moved to the misspelt word that caused it."""
    for slip in [d for d in findings if d.code == "misspelt-keyword"]:
        for fault in [d for d in findings if d.severity is Severity.ERROR and d.code in _MISSING]:
            if f"did you mean {fault.code.removeprefix('missing-')!r}?" in slip.message:
                findings = [d for d in findings if d not in (slip, fault)]
                findings.append(replace(fault, place=slip.place, message=slip.message, remedy=slip.remedy))
    return findings


_UNSTRATIFIED_NEGATION = error("unstratified-negation", "break the cycle: rules must be stratified")
_TOO_LARGE = error("too-large", "use fewer alternatives per rule")
_NOT_PLAYABLE = error("not-playable", "see the message")


def _check_playable(rules: Rules) -> Iterator[Diagnostic]:
    """An error where the rules cannot be normalized, flattened or stratified."""
    try:
        compile_rules(rules)
    except GdlError as fault:
        kind = _TOO_LARGE if isinstance(fault, TooLargeError) else _UNSTRATIFIED_NEGATION
        if kind is _TOO_LARGE or "its own negation" in fault.message:
            yield kind.at(fault.place or Place(), fault.message)
        else:
            yield of_error(fault)


__all__ = ["KINDS", "Diagnostic", "Severity", "check", "check_text"]


def check(rules: Rules) -> list[Diagnostic]:
    """Everything that is wrong or doubtful in rules that could be parsed, the worst first. Rules without an
    error (:attr:`Severity.ERROR`) can be played; many public games have warnings. What only the text shows
    (syntax, spelling) is :func:`check_text`'s."""
    families = (
        *(check_foreign, check_spelling, check_sentences, check_relations),
        *(check_values, check_game, check_dependence),
    )
    findings = roots_of((finding for family in families for finding in family(rules)), rules)
    if not any(d.severity is Severity.ERROR for d in findings):
        findings += _check_playable(rules)
    return in_order(_in_own_notation(findings, rules))


def check_text(
    text: str, name: str = "", notation: Notation = "auto"
) -> tuple[Rules | None, list[Diagnostic]]:
    """Parse and check a text, past as many faults as it has; messages call it ``name``.

    Returns the rules, or None where some sentence could not be read, and the findings, the worst first. Where
    sentences are missing, it reports besides syntax errors only findings that need no other sentence.
    """
    rules, findings = read_rules(text, name, notation)
    faulty = any(d.severity is Severity.ERROR for d in findings)
    findings = [
        *_in_own_notation(findings, rules),
        *(roots_of(check_sentences(rules), rules) if faulty else check(rules)),
    ]
    if rules.notation == "kif":
        findings = without_comments_of_others(text, findings)
    return None if faulty else rules, in_order(findings)


def _in_own_notation(findings: list[Diagnostic], rules: Rules) -> list[Diagnostic]:
    """The findings with the samples in their remedies in the notation of the rules."""
    own = OwnNotation(rules)
    return [
        replace(d, remedy=own.sample(d.remedy)) if d.remedy in _fixed_remedies(d.code) else d
        for d in findings
    ]


def _fixed_remedies(code: str) -> tuple[str, ...]:
    """The remedies of a code that do not depend on the rules: their samples are KIF."""
    kind = KINDS.get(code)
    return (*([] if kind is None else [kind.remedy]), *FAULTS.get(code, ())[1:])
