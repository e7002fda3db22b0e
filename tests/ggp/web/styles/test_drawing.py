"""Drawings of stylesheets are written anew from what is allowed: no spelling of anything else gets through.

Another parser than ours (the standard library's) says what is in the result.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("lxml.etree", reason="lxml is not installed: extra styles")

from ggp.web.styles.drawing import ELEMENTS, clean_drawing, clean_rules
from tests.examples import examples

THERE = "http://evil.example"
ADDRESSES = {"src", "href", "xlink:href", "background"}
CARRIED = re.compile(r"data:(image/[a-z+]+;base64)?,[\w+/=]*|#\w*")


class Seen(HTMLParser):
    """What a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS | {"style"}:
            self.faults.append(f"<{tag}>")
        for name, value in attributes:
            if name.startswith("on") or (name in ADDRESSES and not CARRIED.fullmatch(value or "")):
                self.faults.append(f"{name}={value}")
            if name in ("style", "fill"):
                self._look(value or "")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "style":
            self._look(data)

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"comment {data}")

    def _look(self, css: str) -> None:
        addresses = re.findall(r'url\("?([^")]*)', css)
        bad = [address for address in addresses if not CARRIED.fullmatch(address)]
        words = [word for word in ("@import", "expression", "binding", "behavior", "\\", "<") if word in css]
        names = [word for word in ("image-set", "src(", "http", "//") if word in css.lower()]
        self.faults += bad + words + names


def faults(text: str) -> list[str]:
    seen = Seen()
    seen.feed(clean_drawing(text, lambda address: None))
    seen.close()
    return seen.faults


ATTACKS = [
    f"<a/href={THERE}/x>away</a>",
    f'<a title=">" href="{THERE}">away</a>',
    f"<a href\n=\n'{THERE}'>away</a>",
    f'<a HREF="{THERE}" ping="{THERE}">away</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href="java\tscript:alert(1)">x</a>',
    f'<link title=">" rel=preconnect href="{THERE}">',
    f"<li<nk rel=preconnect href={THERE}>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script>alert(1)",
    "<script/x>alert(1)</script >",
    "<svg><script>alert(1)</script></svg>",
    f"<svg><a xlink:href='{THERE}'><rect/></a></svg>",
    f"<svg><use xlink:href='{THERE}/x.svg#a'/></svg>",
    f"<svg><image href='{THERE}/x.png'/></svg>",
    "<svg><animate attributeName=href values='javascript:alert(1)'/></svg>",
    "<svg><set attributeName=onmouseover to='alert(1)'/></svg>",
    "<svg><foreignObject><iframe src=x></iframe></foreignObject></svg>",
    f"<svg><rect fill='url({THERE}/a#b)'/><style>@import '{THERE}';</style></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></mtext></math>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
    '<textarea><p title="</textarea><img src=x onerror=alert(1)>"></textarea>',
    f"<img/src={THERE}/x.png/onerror=alert(1)>",
    f'<img srcset="{THERE}/x.png 2x" src=x onerror=alert(1)>',
    f"<video poster={THERE}><source src={THERE}></video><audio src={THERE}>",
    f"<table background={THERE}/x.png><td background={THERE}/y.png></table>",
    f"<form action={THERE}><input formaction={THERE} type=image src={THERE}></form>",
    f"<base href={THERE}><meta http-equiv=refresh content='0;url={THERE}'>",
    f"<object data={THERE}></object><embed src={THERE}><iframe srcdoc='<script>1</script>'></iframe>",
    "<div onclick=alert(1) oNmouseover='alert(2)'>x</div>",
    "<!--[if IE]><script>alert(1)</script><![endif]--><!-- --!><script>alert(1)</script> -->",
    "<?xml-stylesheet href='http://evil.example'?><![CDATA[<script>alert(1)</script>]]>",
    f"<p style='background: url({THERE}/x)'>x</p>",
    f"<p style='background: u\\72l({THERE}/x)'>x</p>",
    f"<p style='background: ur/**/l({THERE}/x); background:/**/url({THERE})'>x</p>",
    f"<p style='background: image-set(\"{THERE}/x\" 1x)'>x</p>",
    "<p style='width: expression(alert(1)); behavior: url(x.htc); -moz-binding: url(x)'>x</p>",
    f"<style>@import url({THERE});@\\69mport '{THERE}';@font-face{{font-family:x;src:url({THERE})}}</style>",
    f"<style>p{{background:url('{THERE}')}} p{{cursor:url({THERE}),auto;content:url({THERE})}}</style>",
    f"<style>p{{--x:url({THERE});background:var(--x)}} @media all{{p{{background:url({THERE})}}}}</style>",
    "<style>p{}</sty</style>le><script>alert(1)</script></style>",
    '<style>p[title="</style><script>alert(1)</script>"]{color:red}</style>',
    f"<style>p{{color:red;}} /* }} */ q{{background:\\75\\72\\6c({THERE})}}</style>",
    f"<style>p{{background:url(\n'{THERE}'\n)}} p{{mask:url( {THERE} )}}</style>",
    f"<style>p{{background:url('data:,' url({THERE}))}}</style>",
    "<img src='data:text/html,<script>alert(1)</script>'><img src='data:image/png,\"onerror=1'>",
    "<x:script xmlns:x='http://www.w3.org/1999/xhtml'>alert(1)</x:script>",
    "\x00<\x00script>alert(1)</script><sc\x00ript>alert(1)</script>",
    "<plaintext><script>alert(1)</script>",
    "<div " + "a" * 100_000 + f"=1 onclick=1><a href={THERE}>",
    "<div>" * 5000 + "<script>alert(1)</script>",
]


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_known_ways_round_filters_lead_nowhere(attack: str) -> None:
    assert not faults(attack)
    assert not faults(f"<div><p>{attack}</p><span>{attack}")


WORDS = r"""< > </ /> <!-- --> <script </script> <style> </style> <svg> <a <img <p style=" " ' = / url( ) { }
; : \ /* */ @import @media href= src= onerror= javascript: data: http://evil.example \75 #a color red &#60;
&lt; &quot; <![CDATA[ ]]> background fill= xlink:href= <table> <td> <noscript> <math> x"""
PIECES = st.sampled_from([*WORDS.split(), " ", "\n", "\t", "\x00", "\xe9"])


@examples(500)
@given(st.lists(PIECES, max_size=25))
def test_no_text_becomes_anything_that_is_not_allowed(pieces: list[str]) -> None:
    assert not faults("".join(pieces))


@examples(500)
@given(st.lists(PIECES, max_size=25))
def test_no_rules_ask_for_anything(pieces: list[str]) -> None:
    seen = Seen()
    seen._look(clean_rules("p{color:red}" + "".join(pieces), lambda address: None))
    assert not seen.faults


def test_drawings_keep_how_they_look() -> None:
    text = (
        "<style>td.a:nth-child(2) > b, #x[title='y'] { width: 10px; color: #fff !important; "
        "background: rgba(1,2,3,.5) url(urn:dot) no-repeat -2px 50%; -webkit-transform: rotate(45deg) }"
        "@media (min-width: 10px) { p { color: red } }</style>"
        "<table border='1' cellpadding='0'><tr><td style='border:1px solid black' bgcolor='red'>1 &lt; 2</td>"
        "<td><img src='urn:dot' width='10'></table><center><font color='red' size='2'>é</font></center>"
        "<svg viewBox='0 0 10 10'><defs><linearGradient id='g'><stop offset='0' stop-color='red'/>"
        "</linearGradient></defs><rect x='1' width='2' fill='url(#g)' transform='translate(1,2)'/></svg>"
    )
    made = clean_drawing(text, lambda address: "data:," if address == "urn:dot" else None)
    for part in (
        "td.a:nth-child(2) > b, #x[title='y']{width:10px;color:#fff !important;background:rgba(1,2,3,.5) "
        'url("data:,") no-repeat -2px 50%;-webkit-transform:rotate(45deg)}',
        "@media (min-width: 10px){p{color:red}",
        '<table border="1" cellpadding="0">',
        '<td style="border:1px solid black" bgcolor="red">1 &lt; 2</td>',
        '<img src="data:," width="10">',
        '<center><font color="red" size="2">é</font></center>',
        '<svg viewbox="0 0 10 10"><defs><lineargradient id="g"><stop offset="0" stop-color="red"></stop>',
        '<rect x="1" width="2" fill="url(&quot;#g&quot;)" transform="translate(1,2)"></rect>',
    ):
        assert part in made, part
