"""Drawings show the cone that was asked for, and text from strangers cannot break them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given

from gdl.errors import GdlError
from gdl.grounding.ground_rules import GroundRules
from gdl.terms import Term
from propnet import drawing as drawings
from propnet.build import build
from propnet.drawing import AND, BASE, MOVE, OR, OUTPUT, draw, output_names, svg
from propnet.network import Network
from tests.examples import examples
from tests.propnet.ground_cases import ground_rules

NEXT = Term("next", Term("p", Term("1")))
TERMINAL = Term("terminal")


def small(proposition: str = "p") -> Network:
    """next (p 1) is p1 and does m; terminal is p1 or p2; both are true at first, all moves legal."""
    return build(
        GroundRules(
            roles=(Term("r"),),
            bases=(Term(proposition, Term("1")), Term(proposition, Term("2"))),
            moves=((Term("m"), Term("n")),),
            atom_count=7,
            heads=np.array([4, 5, 5, 6], np.int32),
            body_start=np.array([0, 2, 3, 4, 4], np.int64),
            bodies=np.array([0, 4, 0, 2], np.int32),
            next_atoms=np.array([4, -1], np.int32),
            legal_atoms=np.array([6, 6], np.int32),
            goal_atoms=((0, 100, 5),),
            terminal_atom=5,
            initial=np.ones(2, bool),
        )
    )


def test_cone_of_one_output_has_what_it_reads_and_nothing_else() -> None:
    drawing = draw(small(), [NEXT])
    kinds = [(box.kind, box.text) for box in drawing.boxes]
    assert kinds == [(BASE, "(true (p 1))"), (MOVE, "(does r m)"), (AND, "and"), (OUTPUT, "(next (p 1))")]
    assert drawing.edges == [(0, 2, False), (1, 2, False), (2, 3, False)]


def test_negated_and_of_negated_inputs_is_drawn_as_or() -> None:
    drawing = draw(small(), [TERMINAL])
    assert [box.kind for box in drawing.boxes] == [BASE, BASE, OR, OUTPUT]
    assert not any(negated for _, _, negated in drawing.edges)


def test_unknown_output_is_an_error() -> None:
    with pytest.raises(GdlError, match="no output"):
        draw(small(), [Term("true", Term("p", Term("1")))])


def test_large_networks_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawings, "LARGEST", 1)
    with pytest.raises(GdlError, match="gates to draw"):
        draw(small())


def test_names_from_strangers_are_escaped() -> None:
    drawing = draw(small('<a&"b\\'), title='t"<&')
    text = svg(drawing)
    ElementTree.fromstring(text)
    assert "<a&" not in text


@examples(60)
@given(ground_rules())
def test_every_network_can_be_drawn(ground: GroundRules) -> None:
    network = build(ground)
    drawing = draw(network)
    assert sum(box.kind == OUTPUT for box in drawing.boxes) == len(output_names(network))
    shapes = ElementTree.fromstring(svg(drawing)).iter("{http://www.w3.org/2000/svg}rect")
    assert sum(1 for _ in shapes) == len(drawing.boxes) + 1
