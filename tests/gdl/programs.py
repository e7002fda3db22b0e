"""Random small games for differential tests: stratified, safe, with functions and recursion."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

CONSTANTS = ("a", "b", "c", "1")
VARIABLES = ("?x", "?y", "?z")
ARITY = {"p": 1, "q": 2, "r": 2, "s": 3, "t": 0}
ORDER = tuple(ARITY)
"""A relation may negate earlier ones, and read these and itself without negation."""


def examples(count: int) -> settings:
    """Settings for tests on that many games."""
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def _argument(draw: st.DrawFn) -> str:
    kind = draw(st.integers(0, 9))
    if kind < 6:
        return draw(st.sampled_from(VARIABLES))
    if kind < 9:
        return draw(st.sampled_from(CONSTANTS))
    return f"(f {draw(st.sampled_from(VARIABLES + CONSTANTS))})"


@st.composite
def _atom(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    name = draw(st.sampled_from((*names, "edge", "fact", "fact")))
    arity = {"edge": 2, "fact": 2}.get(name, ARITY.get(name, 0))
    if arity == 0:
        return draw(st.sampled_from((name, f"({name})")))
    text = f"({name} {' '.join(draw(_argument()) for _ in range(arity))})"
    return f"(true {text})" if name == "fact" else text


@st.composite
def _formula(draw: st.DrawFn, names: tuple[str, ...], earlier: tuple[str, ...], depth: int) -> str:
    kind = draw(st.integers(0, 9 if depth else 5))
    if kind < 5:
        return draw(_atom(names))
    if kind == 5:
        return f"(distinct {draw(_argument())} {draw(_argument())})"
    if kind < 8:
        return f"(not {draw(_formula(earlier, earlier, depth - 1))})"
    parts = [draw(_formula(names, earlier, depth - 1)) for _ in range(draw(st.integers(1, 3)))]
    return f"({'or' if kind == 8 else 'and'} {' '.join(parts)})"


@st.composite
def games(draw: st.DrawFn) -> str:
    """The text of a game whose legal moves show the extension of every relation."""
    lines = ["(role you)", "(<= terminal (true (fact a a)) t)", "(next nothing)"]
    for _ in range(draw(st.integers(1, 5))):
        lines.append(f"(edge {draw(st.sampled_from(CONSTANTS))} {draw(st.sampled_from(CONSTANTS))})")
    lines.append("(edge (f a) b)")
    for _ in range(draw(st.integers(1, 4))):
        lines.append(f"(init (fact {draw(st.sampled_from(CONSTANTS))} {draw(st.sampled_from(CONSTANTS))}))")
    for position, name in enumerate(ORDER):
        earlier = ORDER[:position]
        for _ in range(draw(st.integers(1, 3))):
            body = [draw(_formula((*earlier, name), earlier, 2)) for _ in range(draw(st.integers(1, 3)))]
            used = {v for v in VARIABLES if any(v in part for part in body)}
            body += [f"(edge {v} {draw(st.sampled_from(VARIABLES))})" for v in sorted(used)]
            bound = [*sorted({v for v in VARIABLES if any(v in part for part in body)}), "a"]
            head = " ".join(draw(st.sampled_from(bound)) for _ in range(ARITY[name]))
            lines.append(
                f"(<= ({name} {head}) {' '.join(body)})" if head else f"(<= {name} {' '.join(body)})"
            )
        shown = " ".join(VARIABLES[: ARITY[name]])
        move, asked = (f"(show {name} {shown})", f"({name} {shown})") if shown else (f"(show {name})", name)
        lines.append(f"(<= (legal you {move}) {asked})")
    lines.append("(legal you noop)")
    return "\n".join(lines)
