"""Alerts and their outputs: real servers on loopback, a command, feeds; nothing twice, nothing lost."""

from __future__ import annotations

import json
import resource
import signal
import socketserver
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email import message_from_string, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from xml.etree import ElementTree

import pytest

from archivebot.exceptions import Refused, Undelivered
from archivebot.kinds import SiteChange
from archivebot.watch.alert import Alert, ChangedAddress
from archivebot.watch.feeds import ATOM, JSON_FEED, Feed, FeedFormat, atom, json_feed
from archivebot.watch.outbox import Outbox
from archivebot.watch.program import Program
from archivebot.watch.webhook import Webhook
from tests.conftest import ROOT, Crawl
from tests.mockserver import MockServer, Reply
from tests.watching import ALERT, SITE, Watch, archived, page

LATE = "The library is open until nine in the evening."


class Hook(BaseHTTPRequestHandler):
    """A webhook that answers with a status, 200 by default, and keeps what it was sent."""

    status = 200
    asked = 0
    retry_after = ""
    authorization: str | None = None  # of the last request
    kinds: list[str] | None = None  # the values of its Content-Type
    reached: Event  # it was asked
    free: Event  # it may answer
    taken: list[tuple[str | None, dict[str, Any]]]

    def do_POST(self) -> None:
        type(self).asked += 1
        self.reached.set()
        self.free.wait(9)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).authorization = self.headers["Authorization"]
        type(self).kinds = self.headers.get_all("Content-Type")
        if self.status == 200:
            self.taken.append((self.headers["Idempotency-Key"], json.loads(body)))
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        if self.retry_after:
            self.send_header("Retry-After", self.retry_after)
        self.end_headers()

    def log_request(self, *args: object) -> None:
        """Print nothing."""


class Mailbox(socketserver.StreamRequestHandler):
    """A server of RFC 5321 without extensions, which keeps the messages that it took."""

    taken: list[str]

    def handle(self) -> None:
        self._say("220 here")
        while line := self.rfile.readline().decode().strip():
            if line.upper() == "DATA":
                self._say("354 go on")
                lines = list(iter(lambda: self.rfile.readline().decode().rstrip("\r\n"), "."))
                self.taken.append("\n".join(lines))
            self._say("221 bye" if line.upper() == "QUIT" else "250 ok")
            if line.upper() == "QUIT":
                return

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def running(server: socketserver.BaseServer) -> Iterator[None]:
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


@pytest.fixture
def hook() -> Iterator[tuple[int, type[Hook]]]:
    kind = type("Own", (Hook,), {"taken": [], "reached": Event(), "free": Event()})
    kind.free.set()
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server, running(server):
        yield server.server_port, kind


@pytest.fixture
def mailbox() -> Iterator[tuple[int, list[str]]]:
    taken: list[str] = []
    kind = type("Own", (Mailbox,), {"taken": taken})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) as server, running(server):
        yield server.server_address[1], taken


def rules(**outputs: str) -> str:
    """Return a rules file with one rule for all outputs."""
    tables = "\n".join(f"[output.{name}]\n{text}" for name, text in outputs.items())
    return f'[[rule]]\nname = "all"\n\n{tables}\n'


def test_each_output_gets_an_alert_once(
    tmp_path: Path, hook: tuple[int, type[Hook]], mailbox: tuple[int, list[str]]
) -> None:
    watch = Watch(tmp_path)
    append = "import sys; open('taken', 'a').write(sys.stdin.read() + '\\n')"
    text = rules(
        hook=f'webhook = "http://127.0.0.1:{hook[0]}/in"',
        mail=f'mail = "a@example.org"\nserver = "smtp://127.0.0.1:{mailbox[0]}"',
        command=f"command = {json.dumps([sys.executable, '-c', append])}",
        news='atom = "feed.xml"',
        items='json = "feed.json"',
    )
    watch.begin(text, {"hours": page("The library is open until six."), "same": page("Nothing.")})
    archived(watch.uri, 10, {"hours": page(LATE), "same": page("Nothing.")})
    for _ in range(2):  # the second run finds nothing new and sends nothing again
        watch.sent("--again")
    [(key, sent)] = hook[1].taken
    assert sent["pages"][0]["url"] == f"{SITE}hours"
    assert key == f'"{sent["id"]}"'
    [mail] = (message_from_string(each, policy=policy.default) for each in mailbox[1])
    assert sent["id"] in mail["Message-ID"]
    assert sent["link"] in mail.get_content()
    assert [json.loads(line) for line in (tmp_path / "taken").read_text().splitlines()] == [sent]
    [entry] = ElementTree.parse(tmp_path / "feed.xml").iter(f"{{{ATOM}}}entry")
    assert entry.findtext(f"{{{ATOM}}}id") == f"urn:uuid:{sent['id']}"
    identity = ElementTree.parse(tmp_path / "feed.xml").findtext(f"{{{ATOM}}}id")
    Feed("news", tmp_path / "feed.xml", FeedFormat.ATOM).send([])
    assert ElementTree.parse(tmp_path / "feed.xml").findtext(f"{{{ATOM}}}id") == identity
    Feed("other", tmp_path / "other.xml", FeedFormat.ATOM).send([])
    assert ElementTree.parse(tmp_path / "other.xml").findtext(f"{{{ATOM}}}id") != identity
    feed = json.loads((tmp_path / "feed.json").read_text())
    assert feed["version"] == JSON_FEED
    assert [item["url"] for item in feed["items"]] == [sent["link"]]


@pytest.mark.parametrize("encoding", ["unknown", "big5", "utf-7"])
def test_a_feed_replaces_a_file_in_an_encoding_that_cannot_be_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "feed.xml"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?><feed/>')
    Feed("news", path, FeedFormat.ATOM).send([])
    assert ElementTree.parse(path).findtext(f"{{{ATOM}}}id")


def test_an_alert_of_the_first_year_has_a_valid_time_in_a_feed() -> None:
    alert = Alert("1", "all", SiteChange.NEW, "", (ChangedAddress(SITE, None, 1, "00010101000000", SITE),))
    updated = ElementTree.fromstring(atom([alert], "urn:x")).findtext(f"{{{ATOM}}}updated")
    assert updated == "0001-01-01T00:00:00Z"
    assert b'"date_published": "0001-01-01T00:00:00Z"' in json_feed([alert])


def test_alerts_that_no_output_gets_are_told(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.begin(rules(), {"hours": page("The library is open until six.")})
    assert watch.run().stderr.endswith("no alerts\n")
    archived(watch.uri, 10, {"hours": page(LATE)})
    assert watch.run().stderr.endswith("1 alert without an output: scrapy serve shows them at /alerts\n")


def test_an_output_that_a_rule_names_twice_gets_an_alert_once(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    text = '[[rule]]\nname = "all"\nsend = ["items", "items"]\n\n[output.items]\njson = "feed.json"\n'
    watch.begin(text, {"hours": page("The library is open until six.")})
    archived(watch.uri, 10, {"hours": page(LATE)})
    assert watch.sent()["outputs"]["items"]["sent"] == 1


def test_a_program_that_gets_no_input_for_lack_of_room_is_tried_again(tmp_path: Path) -> None:
    program = Program("command", (sys.executable, "-c", ""), tmp_path)
    program.send([ALERT])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))  # as on a full disk
    try:
        with pytest.raises(Undelivered, match="cannot be run: File too large"):
            program.send([ALERT])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_a_program_prints_is_not_kept_in_memory(tmp_path: Path) -> None:
    prints = "import sys; sys.stderr.write('words of an error\\n' * 500_000 + 'no room\\n'); sys.exit(3)"
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match="ended with exit code 3: no room"):
            Program("command", (sys.executable, "-c", prints), tmp_path).send([ALERT])
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_two_runs_at_once_send_an_alert_once(tmp_path: Path, hook: tuple[int, type[Hook]]) -> None:
    watch = Watch(tmp_path)
    watch.begin(rules(hook=f'webhook = "http://127.0.0.1:{hook[0]}/in"'), {"hours": page("Until six.")})
    archived(watch.uri, 10, {"hours": page(LATE)})
    hook[1].free.clear()
    command = [sys.executable, "-m", "scrapy", "watch", str(watch.rules), "-s", f"ARCHIVE_URI={watch.uri}"]
    with subprocess.Popen(command, cwd=ROOT) as first:
        assert hook[1].reached.wait(30)
        second = watch.run("--again")
        hook[1].free.set()
    assert first.returncode == 0
    assert second.returncode == Undelivered.exit_code
    assert "hook: 0 sent, 1 waiting: not due yet, or another run is sending it" in second.stderr
    assert len(hook[1].taken) == 1


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_crawl_that_sends_its_alerts(
    site: MockServer, crawl: Crawl, hook: tuple[int, type[Hook]], number: int
) -> None:
    path = crawl.folder / "rules.toml"
    path.write_text(rules(hook=f'webhook = "http://127.0.0.1:{hook[0]}/in"'), "utf-8")
    site.routes["/"] = Reply(page("The library is open until six."))
    assert crawl("-s", f"ARCHIVE_WATCH={path}", seeds=site.url()).code == 0
    site.routes["/"] = Reply(page(LATE))
    hook[1].free.clear()
    with crawl.start("-s", f"ARCHIVE_WATCH={path}", seeds=site.url()) as process:
        assert hook[1].reached.wait(30)
        process.send_signal(number)
        log = process.communicate(timeout=60)[1]
        hook[1].free.set()
    assert (process.returncode, log.splitlines()[-1]) == (130, "archivebot: interrupted after the crawl")


def test_a_run_that_was_killed_holds_an_alert_for_as_long_as_sending_takes(tmp_path: Path) -> None:
    alerts = [(replace(ALERT, id=number), ["hook"]) for number in "12"]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with Outbox(tmp_path / "watch.db", "archive", tmp_path / "rules.toml") as outbox:

        def claimed() -> str | None:
            found = outbox.claim("hook", now, 30.0)
            return found.alert.id if found else None

        outbox.record(alerts, {})
        assert claimed() == "1"  # and the process is killed
        outbox.make_due(now + timedelta(seconds=29))
        assert claimed() == "2"
        outbox.settle("hook", [2], "refused")
        outbox.make_due(now)
        assert claimed() == "2"
        assert claimed() is None
        outbox.make_due(now + timedelta(seconds=31))
        assert claimed() == "1"


def test_an_attempt_while_the_clock_was_ahead_delays_no_other(tmp_path: Path) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with Outbox(tmp_path / "watch.db", "archive", tmp_path / "rules.toml") as outbox:
        outbox.record([(ALERT, ["hook"])], {})
        assert outbox.claim("hook", now + timedelta(days=365), 30.0)
        outbox.settle("hook", [1], "no answer")
        assert outbox.claim("hook", now, 30.0)
        assert outbox.claim("hook", now, 30.0) is None


@pytest.mark.long
def test_a_rules_file_that_is_renamed_says_what_waits_at_its_old_path(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.begin(rules(dead='webhook = "http://127.0.0.1:9/"\ntimeout = 1'), {"hours": page("Until six.")})
    archived(watch.uri, 10, {"hours": page(LATE)})
    assert "dead: 0 sent, 1 waiting: 127.0.0.1: " in watch.run().stderr
    old, watch.rules = watch.rules, watch.rules.with_name("renamed.toml")
    old.rename(watch.rules)
    assert f"{old} has 1 alert waiting and was renamed: rename it back to send them" in watch.run().stderr


@pytest.mark.long
def test_a_rules_file_that_cannot_be_looked_for_was_renamed(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.begin(rules(news='json = "missing/feed.json"'), {"hours": page("Until six.")})
    archived(watch.uri, 10, {"hours": page(LATE)})
    watch.sent(code=Undelivered.exit_code)
    with closing(sqlite3.connect(tmp_path / "a.watch.db")) as database, database:
        # The system refuses such a name, as it refuses a folder without permission.
        database.execute("UPDATE watch SET rules = ?", (f"/{'x' * 300}/rules.toml",))
    done = watch.run()
    assert (done.returncode, "x/rules.toml has 1 alert waiting and was renamed" in done.stderr) == (0, True)


@pytest.mark.long
def test_alerts_wait_for_an_output_that_was_renamed(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    text = rules(news='json = "missing/feed.json"')
    watch.begin(text, {"hours": page("Until six.")})
    archived(watch.uri, 10, {"hours": page(LATE)})
    watch.sent(code=Undelivered.exit_code)
    watch.rules.write_text(rules(items='json = "feed.json"'), "utf-8")
    done = watch.run()
    assert "news: 0 sent, 1 waiting: it has left the rules file: give an output this name to" in done.stderr
    assert done.returncode == 0
    watch.rules.write_text(rules(news='json = "feed.json"'), "utf-8")
    assert watch.sent("--again")["outputs"]["news"] == {"sent": 1, "waiting": 0, "error": None}


@pytest.mark.long
def test_rules_of_one_name_in_two_files_both_send_their_alert(
    tmp_path: Path, hook: tuple[int, type[Hook]]
) -> None:
    first, second = Watch(tmp_path), Watch(tmp_path)
    second.rules = tmp_path / "other.toml"
    for watch in (first, second):
        watch.begin(rules(hook=f'webhook = "http://127.0.0.1:{hook[0]}/in"'), {"hours": page("Until six.")})
    archived(first.uri, 10, {"hours": page(LATE)})
    for watch in (first, second):
        assert watch.sent()["outputs"]["hook"]["sent"] == 1
    assert len({key for key, _ in hook[1].taken}) == 2


@pytest.mark.long
def test_a_rules_file_is_known_by_each_of_its_paths(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    (tmp_path / "below").mkdir()
    watch.begin(rules(items='json = "feed.json"'), {"hours": page("Until six.")})
    archived(watch.uri, 10, {"hours": page(LATE)})
    watch.rules = tmp_path / "below" / ".." / "rules.toml"
    assert watch.sent()["outputs"]["items"]["sent"] == 1


def test_an_outbox_that_knows_a_rules_file_by_two_paths_sends_nothing_again(tmp_path: Path) -> None:
    judged = datetime(2026, 1, 1, tzinfo=UTC)
    path, paths = tmp_path / "watch.db", (tmp_path / "below" / ".." / "rules.toml", tmp_path / "rules.toml")
    for number, name in enumerate(paths):
        with Outbox(path, "archive", name) as outbox:
            alert = replace(ALERT, id=str(number))
            outbox.record([(alert, ["hook"])], {SITE: judged - timedelta(days=number)})
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 1")
    with Outbox(path, "archive", tmp_path / "rules.toml") as outbox:
        assert (outbox.seen(SITE), outbox.run > 0) == (judged, True)
        assert [each.alert.id for each in outbox.last("hook", 9)] == ["1", "0"]
        assert outbox.elsewhere() == {}


@pytest.mark.long
def test_a_receiver_that_moved_is_asked_once(tmp_path: Path, hook: tuple[int, type[Hook]]) -> None:
    watch = Watch(tmp_path)
    watch.begin(rules(hook=f'webhook = "http://127.0.0.1:{hook[0]}/in"'), {"hours": page("Until six.")})
    archived(watch.uri, 10, {"hours": page(LATE)})
    hook[1].status = 302
    assert "answered 302" in watch.sent(code=Undelivered.exit_code)["outputs"]["hook"]["error"]
    assert hook[1].asked == 1


def test_a_receiver_that_does_not_say_where_it_moved_is_no_address(hook: tuple[int, type[Hook]]) -> None:
    hook[1].status = 304
    with pytest.raises(Undelivered) as raised:
        Webhook("hook", f"http://127.0.0.1:{hook[0]}/").send([ALERT])
    assert str(raised.value) == "127.0.0.1 answered 304, which is no receipt: name another address"


def test_a_webhook_gets_the_user_and_password_of_its_address(hook: tuple[int, type[Hook]]) -> None:
    url = f"http://zo%C3%AB:a%3Ab@127.0.0.1:{hook[0]}/"
    Webhook("hook", url).send([ALERT])
    assert hook[1].authorization == f"Basic {b64encode('zoë:a:b'.encode()).decode()}"
    Webhook("hook", url, {"authorization": "Bearer x"}).send([ALERT])
    assert hook[1].authorization == "Bearer x"


def test_a_header_of_a_webhook_replaces_the_usual_one(hook: tuple[int, type[Hook]]) -> None:
    kind = "application/vnd.example+json"
    Webhook("hook", f"http://127.0.0.1:{hook[0]}/", {"content-type": kind}).send([ALERT])
    assert hook[1].kinds == [kind]


def test_a_receiver_is_asked_again_when_it_wants_to_be(hook: tuple[int, type[Hook]]) -> None:
    webhook = Webhook("hook", f"http://127.0.0.1:{hook[0]}/")
    hook[1].status, hook[1].retry_after = 429, "3600"
    with pytest.raises(Undelivered, match=r"^127\.0\.0\.1 answered 429 and asks to wait 3600 seconds$"):
        webhook.send([ALERT])
    assert hook[1].asked == 1
    hook[1].retry_after = "1"
    begun = time.monotonic()
    with pytest.raises(Undelivered, match=r"^127\.0\.0\.1 answered 429$"):
        webhook.send([ALERT])
    assert hook[1].asked == 4
    assert 2 <= time.monotonic() - begun < webhook.patience


@pytest.mark.long
def test_what_a_receiver_does_not_take_waits_for_it(tmp_path: Path, hook: tuple[int, type[Hook]]) -> None:
    watch = Watch(tmp_path)
    text = rules(
        hook=f'webhook = "http://127.0.0.1:{hook[0]}/in"', dead='webhook = "http://127.0.0.1:9/"\ntimeout = 1'
    )
    watch.begin(text, {"hours": page("The library is open until six.")})
    archived(watch.uri, 10, {"hours": page(LATE)})
    hook[1].status = 503
    found = watch.sent(code=Undelivered.exit_code)["outputs"]
    assert (found["hook"]["sent"], found["hook"]["waiting"], found["dead"]["waiting"]) == (0, 1, 1)
    assert hook[1].taken == []
    archived(watch.uri, 20, {"hours": page("The library is open until ten at night in summer.")})
    hook[1].status = 200
    watch.sent("--again", code=Undelivered.exit_code)
    first, second = (sent for _, sent in hook[1].taken)
    assert first["pages"][0]["captured_at"] < second["pages"][0]["captured_at"]
    watch.sent("--again", code=Undelivered.exit_code)  # the other one is still dead
    assert len(hook[1].taken) == 2
