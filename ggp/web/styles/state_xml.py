"""A state as the reference game manager renders it for stylesheets.

>>> state_xml("( (cell 1 1 b) (control xplayer) over )")
'<state><fact><relation>cell</relation><argument>1</argument><argument>1</argument><argument>b</argument></fact>\
<fact><relation>control</relation><argument>xplayer</argument></fact><fact>over</fact></state>'
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from gdl.syntax.sexpr import Atom, Group, SExpr, read


def state_xml(facts: str) -> str:
    """The XML of a state, given as a run of propositions or one list of them, in their order and spelling.

    A function is its ``relation`` and its ``argument``s, a constant its name. Raises ParseError.
    """
    _, parts = read(facts, "state")
    match parts:
        case [Group([Group(), *_] as inner)]:  # as match records have it
            parts = inner
        case [Group([])]:
            parts = []
    return f"<state>{''.join(f'<fact>{_xml(part)}</fact>' for part in parts)}</state>"


def _xml(part: SExpr) -> str:
    match part:
        case Atom(word):
            return escape(word)
        case Group([head, *arguments]):
            inner = "".join(f"<argument>{_xml(argument)}</argument>" for argument in arguments)
            return f"<relation>{_xml(head)}</relation>{inner}"
    return ""
