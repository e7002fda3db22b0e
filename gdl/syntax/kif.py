"""KIF beyond its grammar: reading past faults, comments, and rules written in their own spelling."""

from __future__ import annotations

from collections.abc import Iterator

from gdl.errors import ParseError
from gdl.rules import And, Formula, Literal, Not, Or, Rule
from gdl.syntax.sexpr import MAX_CHARACTERS, MAX_ERRORS, Nest, SExpr, Source, read, tokens


def read_kif_past_faults(text: str, name: str = "") -> tuple[Source, list[SExpr], list[ParseError]]:
    """The sentences without a fault, and the faults of the others. Raises ParseError where the text is too
    long.

    A missing parenthesis is noticed where the next sentence starts: at a ``(<=``, or at a '(' in column 1
    where the text otherwise puts only sentences there. Reading then goes on from there.
    """
    try:
        source, sentences = read(text, name)
        return source, sentences, []
    except ParseError as fault:
        if len(text) > MAX_CHARACTERS:
            raise
        first = fault
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


def kif_comments(source: Source) -> Iterator[tuple[int, int, str]]:
    """The comments of a text: where each begins and ends, and its words."""
    for word, at in tokens(source):
        if word[0] == ";":
            yield at, at + len(word), word.lstrip(";").removeprefix(" ").rstrip()


def sentence_to_kif(rule: Rule, spelling: dict[str, str]) -> str:
    """A rule on one line, as game managers send it; names are spelled as the dictionary says."""
    head = rule.head.spelled(spelling)
    if not rule.body:
        return head
    return f"(<= {head} {' '.join(formula_to_kif(part, spelling) for part in rule.body)})"


def formula_to_kif(formula: Formula, spelling: dict[str, str]) -> str:
    """A part of a body; names are spelled as the dictionary says."""
    match formula:
        case Literal(atom):
            return atom.spelled(spelling)
        case Not(inner):
            return f"(not {formula_to_kif(inner, spelling)})"
        case And(parts) | Or(parts):
            connective = "and" if isinstance(formula, And) else "or"
            return f"({' '.join([connective, *(formula_to_kif(part, spelling) for part in parts)])})"
