"""The status page and the metrics of a server, and that they do not disturb the match protocol."""

from __future__ import annotations

import re
from pathlib import Path

from ggp.protocol.dialect import request_bytes
from ggp.server.status import ServerStatus, as_html, as_text
from tests.ggp.server.live import START, LiveServer, body_of

CURL = b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"
BROWSER = b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\n\r\n"
METRICS = b"GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text,text/plain;q=0.5\r\n\r\n"


def metrics(server: LiveServer) -> dict[str, float]:
    """All samples, by name with labels."""
    reply = server.raw(METRICS)
    assert b"Content-type: text/plain; version=0.0.4" in reply
    lines = [line for line in body_of(reply).splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_pages_show_the_matches_and_metrics_count_them(server: LiveServer) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    assert server.say(START) == "ready"
    for _ in range(2):
        server.say("( PLAY m1 NIL )")
    text = body_of(server.raw(CURL))
    assert re.search(r"^uptime +\d", text, re.MULTILINE)
    assert "Live matches: 1" in text
    line = next(line for line in text.splitlines() if line.startswith("m1 "))
    for part in ("Robot", " 1 ", "prover", "20/20 s", "(Mark 1 1)"):
        assert part in line
    assert server.say("( STOP m1 NIL )") == "done"
    assert server.say("( PLAY m1 NIL )") == "busy"
    assert server.raw(request_bytes("( PLAY )", "x", "x")).startswith(b"HTTP/1.0 400 ")
    samples = metrics(server)
    assert list(text_string_to_metric_families(body_of(server.raw(METRICS))))
    expected = {
        'ggp_requests_total{kind="start"}': 1,
        'ggp_requests_total{kind="play"}': 3,
        'ggp_requests_total{kind="stop"}': 1,
        'ggp_requests_total{kind="status"}': 1,
        'ggp_requests_total{kind="unreadable"}': 1,
        'ggp_moves_total{by="player"}': 1,
        'ggp_moves_total{by="watchdog"}': 0,
        "ggp_matches_started_total": 1,
        'ggp_matches_finished_total{why="stop"}': 1,
        "ggp_live_matches": 0,
        "ggp_restarts_total": 0,
        "ggp_late_replies_total": 0,
        'ggp_answer_clock_share_count{clock="play"}': 2,
        'ggp_answer_clock_share_bucket{clock="play",le="1.0"}': 2,
        'ggp_replies_total{status="400"}': 1,
    }
    assert {name: samples.get(name) for name in expected} == expected
    if Path("/proc/self/statm").exists():
        assert samples['ggp_resident_bytes{of="server"}'] > 1e6


def test_a_browser_gets_a_page_that_loads_nothing_else(server: LiveServer) -> None:
    assert server.say(START.replace("m1", "<script>m1")) == "ready"
    reply = server.raw(BROWSER)
    assert b"Content-type: text/html; charset=utf-8\r\n" in reply
    page = body_of(reply)
    assert page.startswith("<!doctype html>")
    assert "&lt;script&gt;m1" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"?(http|//)", page)


def test_the_page_has_a_row_for_each_match_and_escapes_everything() -> None:
    live, ended = {"match": "<a>", "<b>": "(<c>)", "time": "1:01"}, {"match": "<d>", "<e>": "<f>"}
    status = ServerStatus("<g>", [("<h>", "<i>")], [live], [ended, ended])
    page = as_html(status)
    for letter in "abcdefghi":
        assert f"&lt;{letter}&gt;" in page
    assert "<a>" not in page.replace('<a href="/metrics">', "")
    text = as_text(status)
    assert "match  <b>    time\n<a>    (<c>)  1:01\n" in text and "finished matches: 2" in text
    assert (
        as_text(ServerStatus("x", [], [], [])) == "x\n\nLive matches: none\n\nLast finished matches: none\n"
    )
