"""Who may start, end and see matches: addresses, pages of other sites, managers; and what the log says."""

from __future__ import annotations

import json
import logging
import re
import socket
import time
from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp import log_lines
from ggp.protocol import messages
from ggp.protocol.dialect import request_bytes
from ggp.protocol.http_error import HttpError
from ggp.protocol.messages import parse_message, spaced
from ggp.server.clients.visitors import LOOPBACK, Veil, Visitors, is_here, sender_of
from ggp.server.settings import ServerConfig
from tests.ggp.server.live import MARKS, START, LiveServer, Serve, ServeProcess, body_of, talk
from tests.ggp.strangers import browse, site
from tests.waiting import until


def post(message: str, *headers: str) -> bytes:
    lines = ["POST / HTTP/1.1", *headers, f"Content-Length: {len(message)}"]
    return "\r\n".join([*lines, "", message]).encode()


REFUSED = [
    ("Host: localhost:9147", "Origin: https://evil.example"),
    ("Host: localhost:9147", "Origin: null"),
    ("Host: localhost:9147", "Origin: http://localhost:8000"),
    ("Host: 127.0.0.1:9147", "Sec-Fetch-Site: cross-site"),
    ("Host: 127.0.0.1:9147", "Sec-Fetch-Site: same-site"),
    ("Host: rebound.example:9147", "Origin: http://rebound.example:9147"),
    ("Host: rebound.example:9147", "Origin: http://rebound.example:9147", "Sec-Fetch-Site: same-origin"),
]
WELCOME = [
    (),
    ("Host: foreign",),
    ("Host: player.example:9147", "Sender: GAMESERVER", "Receiver: foreign"),
    ("Host: localhost:9147", "Origin: http://localhost:9147", "Sec-Fetch-Site: same-origin"),
    ("Host: [::1]:9147", "Origin: http://[::1]:9147"),
]


@pytest.mark.slow
@pytest.mark.parametrize("headers", REFUSED)
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_pages_of_other_sites_are_refused(serve: Serve, headers: tuple[str, ...], host: str) -> None:
    server = serve(host=host)
    reply = server.raw(post(START, *headers))
    assert reply.startswith(b"HTTP/1.0 403 ")
    assert b"--allow-origin" in reply
    assert b"Access-Control" not in reply
    assert not server.server.running
    assert server.say(START) == "ready"
    assert server.raw(post("( ABORT m1 )", *headers)).startswith(b"HTTP/1.0 403 ")
    assert [match.id for match in server.server.running] == ["m1"]


@pytest.mark.slow
@pytest.mark.parametrize("headers", WELCOME)
def test_managers_and_our_own_page_are_not(serve: Serve, headers: tuple[str, ...]) -> None:
    server = serve()
    assert server.raw(post("( INFO )", *headers)).startswith(b"HTTP/1.0 200 ")
    assert server.raw(post(START, *headers)).endswith(b"\r\n\r\nready")


def test_an_allowed_origin_may_ask_and_read(serve: Serve) -> None:
    server = serve(allow_origins=("https://Manager.example/", "http://other.example:81"))
    asked = server.raw(post(START, "Origin: https://manager.example", "Sec-Fetch-Site: cross-site"))
    assert b"\r\nAccess-Control-Allow-Origin: https://manager.example\r\n" in asked
    assert asked.endswith(b"\r\n\r\nready")
    preflight = server.raw(b"OPTIONS / HTTP/1.1\r\nOrigin: http://other.example:81\r\n\r\n")
    assert b"Access-Control-Allow-Origin: http://other.example:81\r\n" in preflight
    assert b"Access-Control" not in server.raw(b"OPTIONS / HTTP/1.1\r\nOrigin: http://other.example\r\n\r\n")
    for wrong in ("( PLAY", "( DANCE )"):
        asked = server.raw(post(wrong, "Origin: https://manager.example"))
        assert asked.startswith(b"HTTP/1.0 400 ")
        assert b"\r\nAccess-Control-Allow-Origin: https://manager.example\r\n" in asked
    everybody = serve(allow_origins=("*",))
    asked = everybody.raw(post("( INFO )", "Origin: https://any.example"))
    assert b"\r\nAccess-Control-Allow-Origin: *\r\n" in asked


@pytest.mark.parametrize("origin", ["example.org", "https://", "ftp://a.b", "https://a.b/c", "http://a:x"])
def test_what_is_no_origin_is_refused_at_the_start(origin: str) -> None:
    with pytest.raises(GdlError, match="is not an origin"):
        Visitors("127.0.0.1", [origin])


def test_a_strangers_name_does_not_show_the_pages_of_this_computer() -> None:
    visitors = Visitors("127.0.0.1")
    with pytest.raises(HttpError):
        visitors.check_page({"host": "rebound.example"})
    for host in ("localhost:1", "127.0.0.1:9147", "[::1]", socket.gethostname()):
        visitors.check_page({"host": host})
    for ours in ("127.1", "::1", "localhost"):
        with pytest.raises(HttpError):
            Visitors(ours).check_page({"host": "rebound.example"})
    Visitors("0.0.0.0").check_page({"host": "player.example"})


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_rebound_name_reads_nothing_though_browsers_do_not_say_that_it_is_one(
    serve: Serve, host: str
) -> None:
    """They send ``Sec-Fetch-Site`` to https and to this computer's own names only."""
    server = serve(host=host, allow_hosts=("player.example",))
    mozilla = b"User-Agent: Mozilla/5.0 (X11; Linux x86_64)"
    for path in (b"", b"metrics", b"events", b"(INFO)"):
        for name, status in (
            (b"rebound.example", b"403"),
            (b"player.example", b"200"),
            (b"10.1.2.3", b"200"),
        ):
            if path == b"events" and status == b"200":
                continue  # it goes on for ever
            lines = (
                b"GET /" + path + b" HTTP/1.1",
                b"Host: " + name,
                mozilla,
                b"Accept: text/html",
                b"",
                b"",
            )
            assert server.raw(b"\r\n".join(lines)).startswith(b"HTTP/1.0 " + status), (path, name)


def test_what_browsers_ask_for_themselves_is_no_warning(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve()
    with caplog.at_level(logging.INFO, "ggp.server"):
        for path in (b"favicon.ico", b"robots.txt", b"apple-touch-icon.png"):
            assert server.raw(b"GET /" + path + b" HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.0 404 ")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


PAGE = """<!doctype html><title>waiting</title><body><img src="%(url)s%(get)s"><form id=f method=post
enctype="text/plain" target=i action="%(url)s"><input name="( START m2 Robot (x" value=") 9 9)"></form>
<iframe name=i></iframe><script>
const start = %(start)s, url = "%(url)s";
async function ask(options) {
  try { const r = await fetch(url, {method: "POST", body: start, ...options}); return await r.text() }
  catch (error) { return "no reply" }
}
(async () => {
  document.getElementById("f").submit();
  await ask({mode: "no-cors", body: "( ABORT m9 )"});
  const simple = await ask({mode: "no-cors", headers: {"Content-Type": "text/plain"}});
  const read = await ask({mode: "cors"});
  document.title = "done: " + read;
})();
</script>"""


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [False, True])
def test_a_page_in_a_real_browser(serve: Serve, tmp_path: Path, allowed: bool) -> None:
    page = {"get": "(START%20m3%20Robot%20((role%20Robot))%209%209)", "start": json.dumps(START)}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with site() as (origin, pages):
        pages["/"] = PAGE % {**page, "url": f"http://127.0.0.1:{port}/"}
        server = serve(port=port, matches=4, allow_origins=(origin,) if allowed else ())
        assert server.say(START.replace("m1", "m9")) == "ready"
        shown = browse(origin, tmp_path)
    if allowed:
        assert "<title>done: ready</title>" in shown
        assert [match.id for match in server.server.running] == ["m1"]
    else:
        assert "<title>done: no reply</title>" in shown
        assert [match.id for match in server.server.running] == ["m9"]
        refused = server.server.metrics.text()
        counted = re.search(r'ggp_replies_total\{status="403"\} (\d+)', refused)
        assert counted is not None
        assert int(counted[1]) >= 2


@pytest.mark.parametrize("host", ["", " "])
def test_an_empty_host_is_not_every_address(host: str) -> None:
    with pytest.raises(GdlError, match="host is empty"):
        ServerConfig(host=host)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no sockets for both versions of IP here")
def test_two_colons_listen_on_both_versions_of_ip(serve: Serve) -> None:
    server = serve(host="::")
    assert server.say("( INFO )")
    with socket.create_connection(("::1", server.port), timeout=20) as connection:
        connection.sendall(request_bytes("( INFO )", "x", "x"))
        assert connection.recv(10_000).startswith(b"HTTP/1.0 200 ")


LOGFMT = re.compile(r'(\w+)=((?:[^\s"=]+)|"(?:[^"\\]|\\.)*")(?: |$)')


@pytest.mark.parametrize("form", ["logfmt", "json"])
def test_every_log_line_can_be_read_by_programs(form: str) -> None:
    with ServeProcess("--player", "legal", "--log-format", form) as server:
        talk(server.port, request_bytes('( PLAY "a\x1b b" NIL )', "x", "x"))
        talk(server.port, request_bytes("( PLAY )", "x", "x"))
        until(lambda: "bad request" in "".join(server.log))
    for line in server.said.splitlines():
        if form == "json":
            fields = json.loads(line)
        else:
            assert LOGFMT.sub("", line) == "", line
            fields = dict(LOGFMT.findall(line))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", fields["time"])
        assert fields["level"] in ("debug", "info", "warning", "error")
        assert fields["event"]


@pytest.mark.parametrize("form", ["logfmt", "json"])
def test_no_log_line_steers_a_terminal(form: str, capfd: pytest.CaptureFixture[str]) -> None:
    old = logging.root.handlers[:], logging.root.level
    try:
        log_lines.configure("info", form)
        log_lines.say("info", "x\x9b31m\u202e\n", value="\udcff \x1b[0m é")
        try:
            raise ValueError("the reason")
        except ValueError:
            log_lines.logger.exception("%s", "failed" * 99)
    finally:
        logging.root.handlers[:], level = old
        logging.root.setLevel(level)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    assert "ValueError: the reason" in lines[1]
    if form == "json":
        assert json.loads(lines[0])["value"] == "\udcff \x1b[0m é"


def test_an_unknown_log_format_is_refused() -> None:
    with pytest.raises(GdlError, match="log format"):
        log_lines.configure("info", "xml")


# --- A match belongs to the address that has started it; others learn no id, and not what the search expects
ID = "Match.manager.marks.1700000000"
STARTED = messages.start_request(ID, "Robot", spaced(MARKS), 20, 20)
ELSEWHERE = b"X-Forwarded-For: 203.0.113.9\r\n"
"""What a proxy on this computer says of somebody who is not."""
STATUS_PAGE = b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n%s\r\n"
EVENTS = b"GET /events HTTP/1.1\r\nHost: localhost\r\n%s\r\n"


def ask(server: LiveServer, message: str, sender: str) -> str:
    """The reply to a message that comes from an address."""
    return server.do(server.server.answer(parse_message(message), time.monotonic(), sender))


def test_only_who_has_started_a_match_can_play_or_end_it(serve: Serve) -> None:
    server = serve()
    assert ask(server, STARTED, "192.0.2.1") == "ready"
    for message in (f"( PLAY {ID} NIL )", f"( STOP {ID} NIL )", f"( ABORT {ID.upper()} )", STARTED):
        assert ask(server, message, "192.0.2.2") == "busy"
        assert ask(server, message, LOOPBACK) == "busy"
    assert ask(server, f"( PLAY {ID} NIL )", "192.0.2.1") == "(Mark 1 1)"
    assert ask(server, f"( ABORT {ID} )", "192.0.2.1") == "aborted"
    # The reply does not even tell that there was such a match.
    for message in (f"( ABORT {ID} )", f"( STOP {ID} NIL )", "( ABORT none )"):
        assert ask(server, message, "192.0.2.2") == "busy"
    assert ask(server, f"( ABORT {ID} )", "192.0.2.1") == "aborted"


def test_the_operator_may_let_all_addresses_in(serve: Serve) -> None:
    server = serve(any_sender=True)
    assert ask(server, STARTED, "192.0.2.1") == "ready"
    assert ask(server, f"( PLAY {ID} NIL )", "192.0.2.2") == "(Mark 1 1)"
    assert ask(server, f"( ABORT {ID} )", "192.0.2.3") == "aborted"
    assert ask(server, f"( ABORT {ID} )", "192.0.2.4") == "aborted"


def test_pages_and_events_show_whole_ids_to_this_computer_only(serve: Serve) -> None:
    server = serve(open_events=True)
    assert server.say(STARTED) == "ready"
    server.say(f"( PLAY {ID} NIL )")
    told = []
    for head in (b"", ELSEWHERE):
        for accept in (b"text/html", b"text/plain"):
            told.append(body_of(server.raw(STATUS_PAGE % (accept, head))))
        greeting = talk_for_a_moment(server.port, EVENTS % head)
        told.append(next(line for line in greeting.splitlines() if '"role"' in line))
    assert [ID in text for text in told] == [True, True, True, False, False, False]
    assert all("Match.ma.." in text for text in told[3:])
    server.say(f"( STOP {ID} NIL )")
    assert ID not in body_of(server.raw(STATUS_PAGE % (b"text/plain", ELSEWHERE)))


def test_events_are_for_this_computer_unless_the_operator_opens_them(serve: Serve) -> None:
    server = serve()
    refused = server.raw(EVENTS % ELSEWHERE)
    assert b" 403 " in refused.partition(b"\r\n")[0]
    assert b"--open-events" in refused
    assert "event: server" in talk_for_a_moment(server.port, EVENTS % b"")


@pytest.mark.slow
def test_the_log_names_matches_by_no_whole_id() -> None:
    with ServeProcess("--player", "legal", "--machine", "prover", "--log-format", "json") as server:
        rules = spaced(MARKS)
        for message in (messages.start_request(ID, "Robot", rules, 5, 5), f"( ABORT {ID} )", "( ABORT x1 )"):
            body = message.encode()
            talk(server.port, b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    assert ID not in server.said
    started = [json.loads(line) for line in server.said.splitlines() if '"start"' in line]
    assert started[0]["match"].startswith("Match.ma..")


@pytest.mark.parametrize(
    ("address", "sender"),
    [
        ("127.0.0.1", LOOPBACK),
        ("127.8.9.1", LOOPBACK),
        ("::1", LOOPBACK),
        ("::ffff:127.0.0.1", LOOPBACK),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("", ""),
    ],
)
def test_addresses_are_compared_whatever_their_form(address: str, sender: str) -> None:
    assert sender_of(address) == sender


def test_who_comes_through_a_proxy_of_this_computer_is_elsewhere() -> None:
    assert is_here("127.0.0.1", {})
    assert not is_here("192.0.2.1", {})
    for header in ("forwarded", "x-forwarded-for", "x-real-ip", "via"):
        assert not is_here("127.0.0.1", {header: "x"})


def test_names_for_strangers_are_the_same_for_one_id_and_lead_back_to_none() -> None:
    veil = Veil()
    assert veil.name(ID) == veil.name(ID)
    assert veil.name(ID) != veil.name(ID + "1")
    assert veil.name(ID) != Veil().name(ID)
    for match in ("m", "m1", "abc", ID):
        assert match not in veil.name(match)


def talk_for_a_moment(port: int, data: bytes) -> str:
    """What comes within a moment on a connection that stays open."""
    import socket

    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(data)
        reply = b""
        while b"\ndata: " not in reply or (b"event: match" not in reply and b'"role"' not in reply):
            connection.settimeout(1.0)
            try:
                chunk = connection.recv(65536)
            except TimeoutError:
                break
            if not chunk:
                break
            reply += chunk
        return reply.decode()
