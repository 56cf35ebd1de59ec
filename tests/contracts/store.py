"""What every archive store promises; a back end's test module runs it on a URI of its own."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import Conflict, NotArchived
from archivebot.models import Capture, Fingerprint, Headers, Kind, Link, Outcome, Page, Payload
from archivebot.storage import open_store
from archivebot.storage.attachments import Packed
from archivebot.storage.base import ArchiveStore, NewVersion, PageHead, StoredVersion, Totals, VersionId
from archivebot.storage.edges import LONGEST_ANCHOR, Edge
from archivebot.storage.frames import LEAST_COST, cost, decode, encode
from archivebot.urls import key_range, urlkey
from archivebot.versioning.keep import Keep
from archivebot.wire import Attachment, Wire
from tests.factories import html

ROOT = Path(__file__).parents[2]
URL = "http://example.com/page"
OTHER = "http://example.com/other"


def at(minute: float) -> datetime:
    """A time of the tests."""
    return datetime(2026, 1, 2, tzinfo=UTC) + timedelta(minutes=minute)


def wire_of(minute: float, *lines: bytes, path: str = "page") -> Wire:
    """The facts of an exchange that a capture of that minute may have."""
    head = b"".join(line + b"\r\n" for line in (b"HTTP/1.1 200 OK", b"server: Caf\xe9", *lines, b""))
    return Wire(
        received=b"HTTP/1.1 103 Early Hints\r\n\r\n" + head,
        request=f"GET /{path} HTTP/1.1\r\nHost: example.com\r\nAccept-Language: en\r\n\r\n".encode(),
        left_out=("Cookie",),
        ip="2001:db8::1",
        port=8080,
        protocols=("http/1.1", "tls/1.3"),
        started=at(minute) - timedelta(milliseconds=1250),
        first_byte=70,
        ended=1249,
        length=512,
        decoded=True,
        trailers=b"X-Sum: 1\r\n",
        truncated="disconnect",
        record="<urn:uuid:1>",
    )


def digest_of(body: bytes) -> str:
    return sha256(body).hexdigest()


def visit(
    minute: float,
    version: StoredVersion | None = None,
    *,
    url: str = URL,
    outcome: Outcome = Outcome.FETCHED,
    kind: Kind = Kind.NEW,
    headers: Headers = (),
    wire: Wire | None = None,
) -> Capture:
    """A capture, with what it says about the version that it points at."""
    return Capture(
        url=url,
        urlkey=urlkey(url),
        captured_at=at(minute),
        outcome=outcome,
        kind=kind,
        status=200,
        number=version.number if version else None,
        digest=f"sha256:{version.digest}" if version else None,
        size=version.length if version else 0,
        stored_bytes=0,
        level=version.level if version else None,
        block_count=version.blocks if version else 0,
        new_blocks=0,
        links=3,
        headers=headers or (wire.headers if wire else ()),
        wire=wire,
    )


def version_of(
    body: bytes,
    head: PageHead,
    *,
    url: str = URL,
    outcome: Outcome = Outcome.FETCHED,
    base: StoredVersion | None = None,
    frame: bytes | None = None,
    sketch: tuple[int, ...] = (),
) -> NewVersion:
    """A new version with a frame of its own; the bytes of its base are never looked at."""
    frame = encode(body, None, 1) if frame is None else frame
    record = StoredVersion(
        id=0,
        url=url,
        number=head.versions + 1 if outcome is Outcome.FETCHED else None,
        digest=digest_of(body),
        length=len(body),
        charset="utf-8",
        level=3,
        segmenter=1,
        layout=-(1 << 63),
        blocks=4,
        new_blocks=2,
        new_bytes=len(body) // 2,
        cost=cost(len(body), base.cost if base else 0),
        base=base.id if base else None,
        stored_bytes=len(frame),
    )
    return NewVersion(record, frame, head.lineages + 2 * (record.number is not None), sketch)


def put(
    store: ArchiveStore,
    body: bytes,
    minute: float,
    *,
    url: str = URL,
    outcome: Outcome = Outcome.FETCHED,
    base: StoredVersion | None = None,
    frame: bytes | None = None,
    sketch: tuple[int, ...] = (),
) -> StoredVersion:
    """Store a visit that brings a version, and give the version as it reads back."""
    head = store.head(url)
    new = version_of(body, head, url=url, outcome=outcome, base=base, frame=frame, sketch=sketch)
    capture = visit(minute, new.record, url=url, outcome=outcome)
    capture = replace(capture, stored_bytes=new.record.stored_bytes, new_blocks=new.record.new_blocks)
    assert store.add(capture, head, new)
    found = store.find(url, digest_of(body))
    assert found is not None
    return found


def archive_of(uri: str, frame_bound: int = 16_000_000) -> Archive:
    return Archive(open_store(uri), ArchiveConfig(uri=uri, frame_bound=frame_bound))


def story(number: int, words: str = "") -> bytes:
    """A page of 40 paragraphs, of which one tells the number."""
    chance = random.Random(7)
    lines = [
        " ".join(f"{chance.choice('abcdefgh')}{chance.randrange(900)}" for _ in range(30)) for _ in range(40)
    ]
    lines[number % 40] = f"news number {number} {words}"
    return b"<html><body>" + "".join(f"<p>{line}</p>\n" for line in lines).encode() + b"</body></html>"


def tell(archive: Archive, number: int, words: str = "") -> Capture:
    """Archive one version of the story."""
    page = Page(URL, at(number), Outcome.FETCHED, 200, body=story(number, words))
    return archive.add(archive.segment(page))


def tell_all(uri: str, start: str, stop: str, step: str) -> None:
    """Be the process that archives a range of the story."""
    archive = archive_of(uri)
    for number in range(int(start), int(stop), int(step)):
        tell(archive, number)
    archive.close()


def start_telling(uri: str, *numbers: int) -> subprocess.Popen[bytes]:
    """Run :func:`tell_all` in a process of its own."""
    code = f"from tests.contracts.store import tell_all; tell_all(*{json.dumps([uri, *map(str, numbers)])})"
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)


class StoreContract:
    """The behaviour of a store; subclasses give the fixture ``uri`` of an empty one."""

    @pytest.fixture
    def uri(self) -> str:
        raise NotImplementedError

    @pytest.fixture
    def store(self, uri: str) -> Iterator[ArchiveStore]:
        store = open_store(uri)
        yield store
        store.close()

    @pytest.fixture
    def other(self, uri: str, store: ArchiveStore) -> Iterator[ArchiveStore]:
        """A second writer of the same archive."""
        other = open_store(uri)
        yield other
        other.close()

    # Reading back what was written

    def test_it_is_opened_again_by_its_uri(self, uri: str, store: ArchiveStore) -> None:
        assert store.uri == uri

    def test_an_empty_archive_holds_nothing(self, store: ArchiveStore) -> None:
        assert store.head(URL) == PageHead(0, 0)
        assert store.latest(URL) is None
        assert store.find(URL, digest_of(b"")) is None
        assert store.versions(URL) == []
        assert list(store.version_ids()) == []
        assert list(store.captures(URL)) == []
        assert list(store.urls("", "\U0010ffff")) == []
        assert list(store.tallies()) == []
        assert store.similar(urlkey(URL), (1, 2), 1 << 40) is None
        assert store.check() == []
        totals = store.totals()
        assert totals == {"": Totals(0, 0, 0, 0, 0, totals[""].bytes_stored)}
        assert store.size() == totals[""].bytes_stored

    def test_a_version_reads_back_as_it_was_written(self, store: ArchiveStore) -> None:
        first = put(store, b"first", 0)
        new = version_of(b"second", store.head(URL), base=first)
        second = put(store, b"second", 1, base=first)
        assert second == replace(new.record, id=second.id)
        assert store.version(second.id) == store.latest(URL) == second

    def test_a_capture_reads_back_as_it_was_written(self, store: ArchiveStore) -> None:
        headers = (("Set-Cookie", "a"), ("ETag", '"é"'), ("Set-Cookie", "b"))
        new = version_of(b"body", PageHead())
        capture = replace(
            visit(0, new.record, headers=headers),
            stored_bytes=new.record.stored_bytes,
            new_blocks=2,
            reason="said so",
            location="http://example.com/there",
            origin="warc",
        )
        assert store.add(capture, PageHead(), new)
        assert list(store.captures(URL)) == [capture]

    def test_the_facts_of_the_wire_read_back_as_they_were_written(self, store: ArchiveStore) -> None:
        wires = [
            wire_of(0, b"Set-Cookie: a", b"set-cookie: b"),
            Wire(),
            None,
            wire_of(3, *(b"X-%d: %s" % (number, b"y" * number) for number in range(50))),
            replace(wire_of(4), started=None, length=None, received=bytes(range(256))),
        ]
        for minute, wire in enumerate(wires):
            store.add(visit(minute, wire=wire), PageHead(), None)
        other = visit(9, wire=wires[0], headers=(("ETag", "of the body"),), url=OTHER)
        store.add(other, PageHead(), None)
        assert [capture.wire for capture in store.captures(URL)] == wires
        assert [capture.headers for capture in store.captures(URL)] == [
            wire.headers if wire else () for wire in wires
        ]
        (capture,) = store.captures(OTHER)
        assert (capture.headers, capture.wire) == (other.headers, wires[0])
        assert store.check() == []

    def test_brief_captures_are_the_same_without_headers_and_exchanges(self, store: ArchiveStore) -> None:
        for minute, headers in enumerate([(), (("ETag", "1"),), ()]):
            wire = wire_of(minute) if minute == 2 else None
            store.add(visit(minute, headers=headers, wire=wire), PageHead(), None)
        store.add(visit(3, headers=(("A", "b"),), wire=wire_of(3)), PageHead(), None)
        bare = [replace(each, headers=(), wire=None) for each in store.captures(URL)]
        assert list(store.captures(URL, brief=True)) == bare
        assert list(store.captures(URL, newest_first=True, brief=True)) == bare[::-1]

    def test_the_state_of_a_page_changes_with_its_captures(self, store: ArchiveStore) -> None:
        states = [store.state(URL)]
        first = visit(1, kind=Kind.CHANGED, wire=wire_of(1))
        for capture in (first, visit(0), visit(2)):
            store.add(capture, PageHead(), None)
            states.append(store.state(URL))
        store.amend(first, replace(first, kind=Kind.TOUCHED))
        store.sync()
        states.append(store.state(URL))
        assert len(set(states)) == len(states)
        assert store.state(URL) == states[-1]
        store.add(visit(3), PageHead(), None)
        assert store.state(URL) != states[-1]

    def test_the_state_of_a_page_changes_with_its_pruned_versions(self, store: ArchiveStore) -> None:
        first, second = put(store, b"first" * 9, 0), put(store, b"second" * 9, 1)

        def state() -> Hashable:
            store.sync()
            return store.state(URL)

        states = [state()]
        store.retention.rewrite([first], {})
        states.append(state())
        store.retention.restore(first, encode(b"first" * 9, None, 3), store.head(URL), 4)
        store.retention.rewrite([second], {})
        states.append(state())
        assert len(set(states)) == len(states)

    def test_what_is_amended_keeps_the_facts_of_its_wire(self, store: ArchiveStore) -> None:
        old = visit(0, kind=Kind.CHANGED, wire=wire_of(0))
        store.add(old, PageHead(), None)
        new = replace(old, kind=Kind.TOUCHED)
        store.amend(old, new)
        assert list(store.captures(URL)) == [new]

    def test_times_are_kept_to_the_millisecond(self, store: ArchiveStore) -> None:
        when = at(0) + timedelta(microseconds=123_456)
        store.add(replace(visit(0), captured_at=when), PageHead(), None)
        (capture,) = store.captures(URL)
        assert capture.captured_at == at(0) + timedelta(milliseconds=123)
        assert store.holds(URL, when, Outcome.FETCHED, None)

    def test_a_page_counts_its_versions_and_lineages(self, store: ArchiveStore) -> None:
        put(store, b"first", 0)
        assert store.head(URL) == PageHead(1, 2)
        put(store, b"second", 1)
        assert store.head(URL) == PageHead(2, 4)
        assert store.head(OTHER) == PageHead(0, 0)

    def test_versions_come_in_the_order_they_were_stored(self, store: ArchiveStore) -> None:
        put(store, b"later", 9)
        put(store, b"earlier", 1)
        put(store, b"error", 5, outcome=Outcome.SERVER_ERROR)
        put(store, b"elsewhere", 5, url=OTHER)
        assert [version.number for version in store.versions(URL)] == [1, 2, None]
        assert [version.number for version in store.versions(URL, last=2)] == [2, None]
        assert store.versions(URL, last=0) == []
        assert len(store.versions(URL, last=99)) == 3

    def test_the_ids_of_all_versions_come_page_by_page(self, store: ArchiveStore) -> None:
        for minute, url in enumerate((URL, OTHER, URL, OTHER, URL)):
            put(store, b"%d" % minute, minute, url=url)
        ids = list(store.version_ids())
        pages = [[version.id for version in store.versions(url)] for url in (URL, OTHER)]
        assert ids in (pages[0] + pages[1], pages[1] + pages[0])

    def test_a_visit_without_a_version_has_no_body(self, store: ArchiveStore) -> None:
        capture = visit(0, outcome=Outcome.TIMEOUT, kind=Kind.FAILED)
        assert store.add(capture, PageHead(), None)
        assert list(store.captures(URL)) == [capture]
        assert store.head(URL) == PageHead(0, 0)
        assert store.latest(URL) is None
        assert store.holds(URL, at(0), Outcome.TIMEOUT, None)
        assert not store.holds(URL, at(0), Outcome.TIMEOUT, digest_of(b""))

    def test_an_error_body_is_kept_but_is_no_content(self, store: ArchiveStore) -> None:
        put(store, b"content", 0)
        error = put(store, b"error", 1, outcome=Outcome.SERVER_ERROR)
        assert error.number is None
        assert store.find(URL, digest_of(b"error")) == error
        assert store.head(URL).versions == 1
        latest = store.latest(URL)
        assert latest is not None
        assert latest.digest == digest_of(b"content")

    def test_the_same_body_on_two_pages_is_a_version_of_each(self, store: ArchiveStore) -> None:
        one, two = put(store, b"body", 0), put(store, b"body", 0, url=OTHER)
        assert one.id != two.id
        assert store.frame(one.id) == store.frame(two.id)
        assert (one.url, two.url) == (URL, OTHER)

    @pytest.mark.parametrize("unknown", [99, "99"])
    def test_an_unknown_version_is_not_archived(self, store: ArchiveStore, unknown: VersionId) -> None:
        put(store, b"body", 0)
        for read in (store.version, store.frame, store.frames):
            with pytest.raises(NotArchived, match="no version 99"):
                read(unknown)

    def test_a_visit_is_no_version(self, store: ArchiveStore) -> None:
        version = put(store, b"body", 0)
        store.add(visit(1, version), store.head(URL), version.id)
        assert list(store.version_ids()) == [version.id]

    # Writing once

    def test_the_same_visit_added_twice_changes_nothing(self, store: ArchiveStore) -> None:
        version = put(store, b"body", 0)
        again = visit(0, version)
        before = list(store.captures(URL)), store.totals()
        assert not store.add(again, store.head(URL), version.id)
        assert (list(store.captures(URL)), store.totals()) == before

    def test_the_same_visit_without_a_body_added_twice_changes_nothing(self, store: ArchiveStore) -> None:
        capture = visit(0, outcome=Outcome.TIMEOUT, kind=Kind.FAILED)
        assert store.add(capture, PageHead(), None)
        assert not store.add(capture, PageHead(), None)
        assert list(store.captures(URL)) == [capture]

    def test_two_outcomes_at_one_time_are_two_visits(self, store: ArchiveStore) -> None:
        assert store.add(visit(0, outcome=Outcome.TIMEOUT), PageHead(), None)
        assert store.add(visit(0, outcome=Outcome.UNREACHABLE), PageHead(), None)
        assert len(list(store.captures(URL))) == 2

    def test_the_same_body_seen_again_is_one_version_and_two_visits(self, store: ArchiveStore) -> None:
        version = put(store, b"body", 0)
        again = visit(5, version, kind=Kind.REVISIT)
        assert store.add(again, store.head(URL), version.id)
        assert [capture.digest for capture in store.captures(URL)] == [f"sha256:{version.digest}"] * 2
        assert store.versions(URL) == [version]

    def test_the_second_of_two_writers_gets_a_conflict_and_stores_nothing(
        self, store: ArchiveStore, other: ArchiveStore
    ) -> None:
        head = other.head(URL)
        late = version_of(b"late", head)
        put(store, b"early", 0)
        with pytest.raises(Conflict):
            other.add(visit(1, late.record), head, late)
        assert [version.digest for version in other.versions(URL)] == [digest_of(b"early")]
        assert len(list(other.captures(URL))) == 1
        assert other.head(URL) == PageHead(1, 2)
        assert put(other, b"late", 1).number == 2

    def test_a_visit_that_took_an_older_version_for_the_latest_is_a_conflict(
        self, store: ArchiveStore, other: ArchiveStore
    ) -> None:
        version, head = put(store, b"one", 0), other.head(URL)
        put(store, b"two", 1)
        with pytest.raises(Conflict):
            other.add(visit(2, version, kind=Kind.REVISIT), head, version.id)
        assert len(list(store.captures(URL))) == 2

    def test_a_body_is_stored_once_by_two_writers(self, store: ArchiveStore, other: ArchiveStore) -> None:
        head = other.head(URL)
        late = version_of(b"error", head, outcome=Outcome.NOT_FOUND)
        put(store, b"error", 0, outcome=Outcome.NOT_FOUND)
        with pytest.raises(Conflict):
            other.add(visit(1, late.record, outcome=Outcome.NOT_FOUND), head, late)
        assert len(other.versions(URL)) == 1

    def test_a_body_that_came_with_an_error_may_come_as_content(self, store: ArchiveStore) -> None:
        failed = put(store, b"body", 0, outcome=Outcome.NOT_FOUND)
        shown = put(store, b"body", 1)
        assert (failed.number, shown.number) == (None, 1)
        assert store.find(URL, digest_of(b"body")) == shown
        first, second = store.captures(URL)
        assert (first.number, second.number) == (None, 1)
        store.amend(first, replace(first, kind=Kind.FAILED))
        assert [(each.kind, each.number) for each in store.captures(URL)] == [
            (Kind.FAILED, None),
            (Kind.NEW, 1),
        ]
        with pytest.raises(Conflict):
            store.add(visit(2, shown), store.head(URL), version_of(b"body", store.head(URL)))

    def test_what_one_writer_stored_the_other_reads(self, store: ArchiveStore, other: ArchiveStore) -> None:
        version = put(store, b"body", 0)
        assert other.version(version.id) == version
        assert other.frames(version.id) == store.frames(version.id)

    # Time

    def test_reading_as_of_a_time_gives_what_was_seen_last(self, store: ArchiveStore) -> None:
        third, fifth, sixth = (put(store, b"contents at t%d" % minute, minute) for minute in (3, 5, 6))
        for minute in (8, 9):
            store.add(visit(minute, outcome=Outcome.TIMEOUT, kind=Kind.FAILED), store.head(URL), None)
        assert store.latest(URL) == sixth
        assert [store.latest(URL, at(minute)) for minute in (8, 6, 5.5, 5, 3)] == [
            sixth, sixth, fifth, fifth, third,
        ]  # fmt: skip
        assert store.latest(URL, at(2)) is None
        assert decode(store.frames(fifth.id)) == b"contents at t5"
        assert store.holds(URL, at(5), Outcome.FETCHED, fifth.digest)
        assert not store.holds(URL, at(5), Outcome.FETCHED, sixth.digest)
        assert not store.holds(URL, at(8), Outcome.FETCHED, None)
        newest = [capture.captured_at for capture in store.captures(URL, newest_first=True)]
        assert newest == [at(minute) for minute in (9, 8, 6, 5, 3)]
        assert [capture.captured_at for capture in store.captures(URL)] == newest[::-1]

    def test_content_that_returns_is_the_latest_again(self, store: ArchiveStore) -> None:
        one = put(store, b"one", 0)
        put(store, b"two", 1)
        store.add(visit(2, one, kind=Kind.CHANGED), store.head(URL), one.id)
        assert store.latest(URL) == one

    def test_visits_between_two_times_are_told_apart(self, store: ArchiveStore) -> None:
        for minute in (3, 5, 8):
            put(store, b"%d" % minute, minute)
        for since, until, minutes in ((3, None, [5, 8]), (None, 5, [3, 5]), (3, 5, [5]), (8, None, [])):
            found = store.captures(
                URL, since=at(since) if since else None, until=at(until) if until else None
            )
            assert [capture.captured_at for capture in found] == list(map(at, minutes))

    def test_visits_are_read_in_order_of_time_in_whatever_order_they_were_stored(
        self, store: ArchiveStore
    ) -> None:
        chance = random.Random(20261123)
        one, two = put(store, b"one", 0), put(store, b"two", 1)
        told = [*store.captures(URL)]
        for minute in chance.sample(range(2, 90), 60):
            version, outcome = chance.choice(
                [(one, Outcome.FETCHED), (two, Outcome.NOT_MODIFIED), (None, Outcome.TIMEOUT)]
            )
            record = f"<urn:uuid:0ab44aa3-8893-4045-9e27-9bf0441b02{minute:02}>"
            wire = chance.choice([None, wire_of(minute), replace(wire_of(0), record=record)])
            reason, location = (
                chance.choice(["", "caf\xe9"]),
                chance.choice([None, "", "http://example.org/"]),
            )
            seen = visit(minute, version, outcome=outcome, kind=Kind.REVISIT, wire=wire)
            told.append(replace(seen, origin=f"a.warc:{7 * minute}", reason=reason, location=location))
            assert store.add(told[-1], store.head(URL), version.id if version else None)
            assert not store.add(told[-1], store.head(URL), version.id if version else None)
        told.sort(key=lambda capture: capture.captured_at)
        assert list(store.captures(URL)) == told
        assert list(store.captures(URL, newest_first=True)) == told[::-1]
        for since, until in ((at(9), at(30)), (at(30.5), at(31)), (at(80), at(99)), (at(-5), at(2))):
            between = [capture for capture in told if since < capture.captured_at <= until]
            assert list(store.captures(URL, until=until, since=since)) == between
        for capture in told[2:]:
            assert store.holds(URL, capture.captured_at, capture.outcome, capture.sha256 or None)
            assert not store.holds(URL, capture.captured_at, Outcome.GONE, None)
        for place in chance.sample(range(2, len(told)), 30):
            old, told[place] = told[place], replace(told[place], kind=Kind.TOUCHED, reason="amended")
            store.amend(old, told[place])
        assert list(store.captures(URL)) == told
        assert store.totals()[""].captures == len(told)

    def test_what_a_visit_says_is_amended_and_its_version_stays(self, store: ArchiveStore) -> None:
        put(store, b"one", 5)
        (old,) = store.captures(URL)
        new = replace(old, kind=Kind.TOUCHED, reason="a counter")
        store.amend(old, new)
        assert list(store.captures(URL)) == [new]
        assert [version.digest for version in store.versions(URL)] == [digest_of(b"one")]
        assert store.check() == []

    def test_a_visit_that_brought_no_version_is_pointed_at_another_one(self, store: ArchiveStore) -> None:
        one, two = put(store, b"one", 0), put(store, b"second", 1)
        unchanged = visit(2, two, outcome=Outcome.NOT_MODIFIED, kind=Kind.REVISIT)
        store.add(unchanged, store.head(URL), two.id)
        store.amend(unchanged, visit(2, one, outcome=Outcome.NOT_MODIFIED, kind=Kind.REVISIT))
        assert [capture.digest for capture in store.captures(URL)][2] == f"sha256:{one.digest}"
        assert len(list(store.captures(URL))) == 3
        assert store.check() == []

    def test_the_fingerprint_of_a_page_is_that_of_its_latest_version_in_time(
        self, store: ArchiveStore
    ) -> None:
        prints = [Fingerprint(digest=n, simhash=None, keys=(n,), words=3) for n in (1, 2)]
        for minute, latest, known in ((9, True, prints[0]), (5, False, prints[1])):
            head = store.head(URL)
            new = replace(version_of(b"%d" % minute, head), fingerprint=known, latest=latest)
            store.add(visit(minute, new.record), head, new)
        assert [known for _, _, known in store.fingerprints.all()] == prints[:1]

    def test_a_page_that_turns_back_has_the_fingerprint_of_its_earlier_version(self, uri: str) -> None:
        with archive_of(uri) as archive:

            def known_after(minute: int, number: int) -> list[tuple[str, int, Fingerprint]]:
                page = Page(URL, at(minute), Outcome.FETCHED, 200, body=story(number))
                archive.add(archive.segment(page))
                return list(archive.fingerprints.all())

            first, second = known_after(0, 0), known_after(5, 1)
            assert (first[0][1], second[0][1]) == (1, 2)
            assert known_after(6, 0) == known_after(7, 0) == first
            assert known_after(4, 1) == first  # a visit that was found later
            assert known_after(8, 1) == second

    # Payloads and who waits for them

    def test_a_payload_is_found_until_another_version_has_it(self, store: ArchiveStore) -> None:
        one, two = put(store, b"one", 0), put(store, b"second", 1)
        kept = store.revisits
        assert kept.payload("ab" * 16) is None
        kept.remember("ab" * 16, URL, one.digest, again=False)
        kept.remember("ab" * 16, URL, two.digest, again=False)
        assert kept.payload("ab" * 16) == (URL, one.digest)
        kept.remember("ab" * 16, URL, two.digest, again=True)
        assert kept.payload("ab" * 16) == (URL, two.digest)

    # Attachments

    def test_an_attachment_reads_back_as_it_came_and_is_stored_once(self, store: ArchiveStore) -> None:
        kept, head = store.attachments, b"WARC/1.0\r\nWARC-Type: metadata\r\nX:\xff\r\n\r\n"
        found = [
            Attachment(URL, at(minute), head, block) for minute, block in ((2, b"a"), (2, b"\0"), (1, b"a"))
        ]
        other = Attachment("urn:x", at(1), b"WARC/1.1\r\n\r\n", b"a" * 99)
        assert [kept.add(Packed.of(each, 3)) for each in (*found, other, *found)] == [True] * 4 + [False] * 3
        assert next(each.unpacked() for each in kept.of(URL)) == found[2]
        assert {each.unpacked().block for each in kept.of(URL, at(2))} == {b"a", b"\0"}
        assert (list(kept.of(URL, at(3))), list(kept.of(OTHER))) == ([], [])
        assert (kept.times(URL), kept.times("urn:x")) == ({at(1), at(2)}, {at(1)})
        assert Counter(each.url for each in kept.all()) == {URL: 3, "urn:x": 1}
        assert store.check() == []

    def test_attachments_are_removed_with_the_blocks_that_no_other_one_has(self, store: ArchiveStore) -> None:
        kept, shared = store.attachments, b"the same in both"
        found = [Attachment(url, at(1), b"WARC/1.1\r\n\r\n", shared) for url in (URL, OTHER)]
        found.append(Attachment(URL, at(1), b"WARC/1.1\r\n\r\n", b"only here"))
        for each in found:
            kept.add(Packed.of(each, 3))
        kept.remove(URL, [at(0), at(1)])
        store.retention.compact()
        assert [each.unpacked() for each in kept.all()] == [found[1]]
        kept.remove(OTHER, [at(1)])
        store.retention.compact()
        assert kept.add(Packed.of(found[0], 3))
        assert [each.unpacked() for each in kept.all()] == [found[0]]
        assert store.check() == []

    # Visits that wait

    def test_a_visit_waits_for_a_payload_or_a_capture_until_it_is_released(self, store: ArchiveStore) -> None:
        kept = store.revisits
        waiting = [
            (URL, at(1), Payload("ab" * 16)),
            (URL, at(2), Payload("", OTHER, at(0))),
            (URL, at(3), Payload("cd" * 16, OTHER, at(0))),
        ]
        for url, when, payload in waiting:
            capture = replace(visit(0, outcome=Outcome.UNRESOLVED, kind=Kind.UNRESOLVED), captured_at=when)
            store.add(capture, store.head(URL), None)
            kept.wait((url, when, payload))
            kept.wait((url, when, payload))
        second = at(0) + timedelta(milliseconds=700)
        assert kept.waiting("ab" * 16, OTHER, at(9)) == waiting[:1]
        assert kept.waiting("", OTHER, second) == waiting[1:]
        assert kept.waiting("", URL, at(0)) == []
        kept.release(URL, at(2))
        assert kept.waiting("cd" * 16, OTHER, second) == waiting[2:]
        assert [capture.captured_at for capture in store.captures(URL)] == [at(1), at(3)]

    # Links

    def test_an_empty_archive_has_no_links(self, store: ArchiveStore) -> None:
        assert [*store.links.all(), *store.links.of(URL), *store.links.to(URL)] == []

    def test_a_link_reads_back_as_it_was_seen(self, store: ArchiveStore) -> None:
        link = Link(OTHER, "读 more\tabout", "before", "after", "heading", role="aside", kind="frame")
        store.links.add(URL, [link], at(5))
        edge = Edge(URL, OTHER, "读 more\tabout", "aside", "frame", at(5), at(5))
        assert [*store.links.all()] == [*store.links.of(URL)] == [*store.links.to(OTHER)] == [edge]
        assert [*store.links.of(OTHER), *store.links.to(URL)] == []
        assert list(store.urls("", "\U0010ffff")) == []

    def test_the_links_of_a_page_and_those_to_it_are_told_apart(self, store: ArchiveStore) -> None:
        third = "http://example.org/"
        store.links.add(URL, [Link(OTHER), Link(third), Link(URL)], at(0))
        store.links.add(OTHER, [Link(third)], at(0))
        assert {edge.target for edge in store.links.of(URL)} == {OTHER, third, URL}
        assert {edge.source for edge in store.links.to(third)} == {URL, OTHER}
        assert len(list(store.links.all())) == 4

    def test_a_link_seen_again_has_a_first_and_a_last_time(self, store: ArchiveStore) -> None:
        for minute in (5, 9, 2):
            store.links.add(URL, [Link(OTHER, "words")], at(minute))
        assert list(store.links.all()) == [Edge(URL, OTHER, "words", "main", "link", at(2), at(9))]

    def test_the_words_of_a_link_are_those_seen_last(self, store: ArchiveStore) -> None:
        for minute, words in ((5, "second"), (9, "third"), (2, "first")):
            store.links.add(
                URL, [Link(OTHER, words, role=f"role of {words}", kind=f"kind of {words}")], at(minute)
            )
        edge = Edge(URL, OTHER, "third", "role of third", "kind of third", at(2), at(9))
        assert list(store.links.all()) == [edge]

    def test_a_link_that_went_keeps_the_time_when_it_was_seen_last(self, store: ArchiveStore) -> None:
        store.links.add(URL, [Link(OTHER), Link("http://example.org/")], at(0))
        store.links.add(URL, [Link(OTHER)], at(1))
        assert {(edge.target, edge.last) for edge in store.links.all()} == {
            (OTHER, at(1)),
            ("http://example.org/", at(0)),
        }

    def test_the_first_other_page_with_a_link_to_each_page_is_found(self, store: ArchiveStore) -> None:
        third, fourth = "http://example.org/", "http://example.org/4"
        store.links.add(URL, [Link(URL), Link(OTHER)], at(0))
        store.links.add(OTHER, [Link(third), Link(URL)], at(0))
        store.links.add(third, [Link(third), Link(fourth)], at(0))
        found = store.links.sources([URL, OTHER, third, fourth, "http://example.org/5"])
        assert found == {URL: OTHER, OTHER: URL, third: OTHER, fourth: third}
        store.links.add(fourth, [Link(OTHER)], at(1))
        [first, *_] = store.links.to(OTHER, limit=2)
        assert store.links.sources([OTHER]) == {OTHER: first.source}
        assert store.links.sources([fourth, URL]) == {URL: OTHER, fourth: third}
        assert store.links.sources([]) == {}

    def test_the_same_links_added_twice_change_nothing(self, store: ArchiveStore) -> None:
        links = [Link(OTHER, "words"), Link("http://example.org/", "others")]
        for _ in range(2):
            store.links.add(URL, links, at(0))
            assert {(edge.target, edge.anchor) for edge in store.links.all()} == {
                (link.url, link.anchor) for link in links
            }

    def test_of_two_links_to_one_page_the_first_with_an_anchor_counts(self, store: ArchiveStore) -> None:
        store.links.add(URL, [Link(OTHER), Link(OTHER, "picture"), Link(OTHER, "words")], at(0))
        assert [edge.anchor for edge in store.links.all()] == ["picture"]

    def test_a_long_anchor_is_cut(self, store: ArchiveStore) -> None:
        store.links.add(URL, [Link(OTHER, "词" * (LONGEST_ANCHOR + 1))], at(0))
        assert [edge.anchor for edge in store.links.all()] == ["词" * LONGEST_ANCHOR]

    def test_the_links_seen_last_are_seen_again_without_their_names(self, store: ArchiveStore) -> None:
        third = "http://example.org/"
        assert store.links.last(URL) is None
        store.links.again(URL, at(0), at(1))
        store.links.add(URL, [Link(OTHER, "words"), Link(third)], at(0))
        store.links.add(URL, [Link(OTHER, "words"), Link(URL)], at(1))
        seen = store.links.last(URL)
        assert seen is not None
        assert (seen[0], set(seen[1])) == (at(1), {OTHER, URL})
        store.links.again(URL, at(1), at(5))
        store.links.again(URL, at(1), at(9))  # no link was seen last at that time any more
        store.links.again(URL, at(5), at(3))
        times = {edge.target: (edge.first, edge.last) for edge in store.links.of(URL)}
        assert times == {third: (at(0), at(0)), OTHER: (at(0), at(5)), URL: (at(1), at(5))}
        assert {edge.anchor for edge in store.links.to(OTHER)} == {"words"}
        assert store.check() == []

    def test_links_and_their_capture_are_stored_together(self, store: ArchiveStore) -> None:
        with store.together():
            store.links.add(URL, [Link(OTHER)], at(0))
            put(store, b"body", 0)
        assert [edge.target for edge in store.links.of(URL)] == [OTHER]
        assert len(list(store.captures(URL))) == 1

    def test_a_page_of_300_links_keeps_them_all(self, store: ArchiveStore) -> None:
        urls = {f"http://example.com/{number}" for number in range(300)}
        store.links.add(URL, [Link(url, "x") for url in urls], at(0))
        assert {edge.target for edge in store.links.of(URL)} == urls

    def test_a_page_without_links_leaves_none(self, store: ArchiveStore) -> None:
        store.links.add(URL, [], at(0))
        assert list(store.links.all()) == []

    def test_two_writers_of_the_same_links_both_succeed(
        self, store: ArchiveStore, other: ArchiveStore
    ) -> None:
        for minute in range(4):
            writer = (store, other)[minute % 2]
            writer.links.add(URL, [Link(OTHER, "words"), Link(f"{OTHER}{minute}")], at(minute))
        assert list(other.links.to(OTHER)) == [Edge(URL, OTHER, "words", "main", "link", at(0), at(3))]
        assert len(list(store.links.all())) == 5

    def test_the_links_of_a_visit_are_stored_with_it(self, uri: str) -> None:
        archive = archive_of(uri)
        links = (Link(OTHER, "other"), Link("http://example.org/", "elsewhere"))
        for minute in (0, 3):
            page = Page(URL, at(minute), Outcome.FETCHED, 200, body=story(1), links=links)
            assert archive.add(archive.segment(page)).links == 2
        assert list(archive.links.to(OTHER)) == [Edge(URL, OTHER, "other", "main", "link", at(0), at(3))]
        assert set(archive.links.of(URL)) == set(archive.links.all())
        archive.close()

    # Key ranges

    def test_all_urls_of_a_domain_are_one_range_and_nothing_else_is_in_it(self, store: ArchiveStore) -> None:
        inside = ["http://example.com/", "http://example.com/b", "https://a.example.com/z"]
        outside = ["http://example.co/", "http://example.community/", "http://notexample.com/", "http://com/"]
        for url in (*outside, *inside):
            store.add(visit(0, url=url), PageHead(), None)
        found = list(store.urls(*key_range("http://example.com/", "domain")))
        assert {url for _, url in found} == set(inside)
        every = [key for key, _ in store.urls("", "\U0010ffff")]
        assert every == sorted(map(urlkey, (*inside, *outside)))
        start = every.index(found[0][0])
        assert every[start : start + len(inside)] == [key for key, _ in found]

    def test_pages_of_one_key_come_sorted_by_url(self, store: ArchiveStore) -> None:
        urls = ["https://www.example.com/", "http://example.com/", "https://example.com/"]
        for url in urls:
            store.add(visit(0, url=url), PageHead(), None)
        assert list(store.urls(*key_range(urls[0], "exact"))) == [
            ("com,example)/", url) for url in sorted(urls)
        ]

    def test_more_pages_than_one_answer_holds_come_in_order(self, store: ArchiveStore) -> None:
        urls = [f"http://example.com/{number:04}" for number in range(120)]
        for url in urls:
            store.add(visit(0, url=url), PageHead(), None)
        assert [url for _, url in store.urls("", "\U0010ffff")] == urls

    # Frames

    def test_the_frames_of_a_version_come_from_the_one_that_stands_alone(self, store: ArchiveStore) -> None:
        base: StoredVersion | None = None
        bodies = [b"a body of many words, number %d" % number for number in range(5)]
        for number, body in enumerate(bodies):
            before = bodies[number - 1] if number else None
            base = put(store, body, number, base=base, frame=encode(body, before, 1))
        assert base is not None
        frames = store.frames(base.id)
        assert len(frames) == 5
        assert frames[-1] == store.frame(base.id)
        assert decode(frames) == bodies[-1]

    def test_a_frame_of_another_page_can_be_the_base(self, store: ArchiveStore) -> None:
        base = put(store, b"a body of many words", 0, url=OTHER)
        frame = encode(b"a body of many words!", b"a body of many words", 1)
        version = put(store, b"a body of many words!", 0, base=base, frame=frame)
        assert decode(store.frames(version.id)) == b"a body of many words!"

    @pytest.mark.long
    def test_a_frame_of_forty_megabytes_is_kept(self, store: ArchiveStore) -> None:
        frame = random.Random(1).randbytes(40_000_000)
        version = put(store, b"large", 0, frame=frame)
        assert version.stored_bytes == len(frame)
        assert store.frame(version.id) == frame
        assert store.frames(version.id) == [frame]

    def test_an_empty_frame_is_kept(self, store: ArchiveStore) -> None:
        assert store.frame(put(store, b"body", 0, frame=b"").id) == b""

    # Dictionaries

    def test_a_host_has_the_dictionary_added_last(self, store: ArchiveStore) -> None:
        assert store.dictionaries.latest("com,example") is None
        first = store.dictionaries.add("com,example", 7, encode(b"content", None, 1))
        second = store.dictionaries.add("com,example", 9, encode(b"content 2", None, 1))
        store.dictionaries.add("com,example,a", 3, encode(b"abc", None, 1))
        assert first.id != second.id
        assert store.dictionaries.latest("com,example") == second
        assert (second.host, second.length) == ("com,example", 9)
        assert decode([store.frame(first.id)]) == b"content"

    def test_a_dictionary_is_the_base_of_versions(self, store: ArchiveStore) -> None:
        content = b"a body of many words" * 9
        known = store.dictionaries.add("com,example", len(content), encode(content, None, 1))
        base = replace(version_of(b"", PageHead()).record, id=known.id)
        first = put(store, content + b"!", 0, base=base, frame=encode(content + b"!", content, 1))
        frame = encode(content + b"!?", content + b"!", 1)
        second = put(store, content + b"!?", 1, base=first, frame=frame)
        assert first.base == known.id
        assert decode(store.frames(first.id)) == content + b"!"
        assert decode(store.frames(second.id)) == content + b"!?"
        assert store.check() == []

    def test_origins_are_the_versions_without_an_earlier_version_as_their_base(
        self, store: ArchiveStore
    ) -> None:
        first = put(store, b"first", 0)
        put(store, b"second", 1, base=first)
        other = put(store, b"other", 2, url=OTHER, base=first)
        put(store, b"error", 3, url="http://example.com/gone", outcome=Outcome.NOT_FOUND)
        put(store, b"elsewhere", 4, url="http://a.example.com/")
        assert store.dictionaries.origins("com,example", 9) == [first, other]

    def test_the_origins_of_many_are_those_stored_last(self, store: ArchiveStore) -> None:
        names = ("z", "a", "m", "b")
        z, _, m, b = (
            put(store, name.encode(), -minute, url=f"http://example.com/{name}")
            for minute, name in enumerate(names)
        )
        put(store, b"later z", 1, url=z.url, base=z)
        again = put(store, b"new z", 2, url=z.url, base=m)
        assert store.dictionaries.origins("com,example", 3) == [m, b, again]

    def test_a_version_is_read_whether_or_not_it_was_rebased(self, store: ArchiveStore) -> None:
        content = b"a body of many words" * 9
        first = put(store, content, 0)
        second = put(store, content + b"!", 1, base=first, frame=encode(content + b"!", content, 1))
        known = store.dictionaries.add("com,example", len(content), encode(content, None, 1))
        store.dictionaries.rebase(known, [(first, encode(content, content, 1))])
        store.dictionaries.remove(known)  # it is needed, or kept anyway
        assert decode(store.frames(first.id)) == content
        assert decode(store.frames(second.id)) == content + b"!"
        assert store.dictionaries.latest("com,example") == known
        assert store.check() == []

    # Similar pages

    def test_the_page_of_the_site_that_shares_most_is_similar(self, store: ArchiveStore) -> None:
        put(store, b"little", 0, url="http://example.com/a", sketch=(1, 2, 3))
        much = put(store, b"much", 0, url="http://example.com/z", sketch=(2, 3, 4))
        put(store, b"elsewhere", 0, url="http://example.org/page", sketch=(2, 3, 4))
        assert store.similar(urlkey(URL), (2, 3, 4), 1 << 40) == much

    def test_nothing_is_similar_to_blocks_never_seen(self, store: ArchiveStore) -> None:
        put(store, b"body", 0, url=OTHER, sketch=(1, 2))
        assert store.similar(urlkey(URL), (3, 4), 1 << 40) is None
        assert store.similar(urlkey(URL), (), 1 << 40) is None

    def test_a_page_is_judged_by_its_newest_blocks(self, store: ArchiveStore) -> None:
        put(store, b"before", 0, url=OTHER, sketch=(1, 2))
        now = put(store, b"now", 1, url=OTHER, sketch=(3, 0xFFFFFFFF))
        assert store.similar(urlkey(URL), (1, 2), 1 << 40) is None
        assert store.similar(urlkey(URL), (0xFFFFFFFF,), 1 << 40) == now

    def test_a_version_too_dear_to_read_is_not_similar(self, store: ArchiveStore) -> None:
        first = put(store, b"first", 0, url=OTHER, sketch=(1, 2))
        put(store, b"second", 1, url=OTHER, base=first, sketch=(1, 2))
        assert store.similar(urlkey(URL), (1, 2), LEAST_COST) == first
        assert store.similar(urlkey(URL), (1, 2), LEAST_COST - 1) is None

    # Sums

    def test_a_tally_changes_with_the_visits_of_its_page_only(self, store: ArchiveStore) -> None:
        first = put(store, b"first", 1)
        put(store, b"other", 1, url=OTHER)
        tallies = [dict(store.tallies())]

        def told(changed: str) -> None:
            tallies.append(dict(store.tallies()))
            before, after = tallies[-2:]
            assert {url for url in after if after[url] != before.get(url)} == {changed}

        assert tallies[0].keys() == {URL, OTHER}
        store.add(visit(2, first, kind=Kind.REVISIT), store.head(URL), first.id)
        told(URL)
        store.add(visit(0, first), store.head(URL), first.id)
        told(URL)
        store.amend(visit(0, first), visit(0, first, kind=Kind.TOUCHED))
        told(URL)
        put(store, b"gone", 3, url=OTHER, outcome=Outcome.GONE)
        told(OTHER)

    def test_totals_are_sums_per_host_and_over_all(self, store: ArchiveStore) -> None:
        first = put(store, b"12345", 0)
        store.add(visit(1, first, outcome=Outcome.NOT_MODIFIED, kind=Kind.REVISIT), store.head(URL), first.id)
        store.add(visit(2, first, kind=Kind.REVISIT), store.head(URL), first.id)
        put(store, b"123", 3)
        put(store, b"1", 0, url=OTHER, outcome=Outcome.NOT_FOUND)
        put(store, b"1234567", 0, url="https://a.example.com/")
        store.add(visit(0, url="http://example.org/", outcome=Outcome.TIMEOUT), PageHead(), None)
        store.add(visit(0, url="urn:isbn:1"), PageHead(), None)
        frames = {body: len(encode(body, None, 1)) for body in (b"12345", b"123", b"1", b"1234567")}
        dictionary = encode(b"a dictionary", None, 1)
        store.dictionaries.add("com,example", 12, dictionary)
        totals = store.totals()
        stored = {host: sums.bytes_stored for host, sums in totals.items()}
        own, other, more = sum(frames.values()) - frames[b"1234567"], frames[b"1234567"], len(dictionary)
        assert totals["com,example"] == Totals(5, 2, 2, 6, 14, own + more, own, more)
        assert totals["com,example,a"] == Totals(1, 1, 1, 2, 7, other, other)
        assert totals["org,example"] == Totals(1, 1, 0, 0, 0, 0)
        assert totals[""] == Totals(8, 5, 3, 8, 21, stored[""], own + other, more)
        assert stored[""] >= own + other + more

    # Crashes and several processes

    def test_everything_is_there_after_it_was_opened_again(self, uri: str, store: ArchiveStore) -> None:
        first = put(store, b"first", 0)
        put(store, b"second", 1, base=first)
        again = open_store(uri)
        assert again.versions(URL) == store.versions(URL)
        assert list(again.captures(URL)) == list(store.captures(URL))
        assert [again.frames(name) for name in again.version_ids()] == [
            store.frames(name) for name in store.version_ids()
        ]
        again.close()

    @pytest.mark.long
    @pytest.mark.parametrize("seen", [1, 4, 7])
    def test_a_writer_that_is_killed_leaves_whole_captures_only(self, uri: str, seen: int) -> None:
        writer = start_telling(uri, 0, 10_000, 1)
        store = open_store(uri)
        while store.head(URL).versions < seen:
            assert writer.poll() is None
            time.sleep(0.005)
        writer.kill()
        writer.wait()
        store.close()
        archive = archive_of(uri)
        count = len(archive.captures(URL))
        assert archive.verify() == (count, [])
        for number in range(count + 2):
            assert tell(archive, number).number == number + 1
        assert [capture.number for capture in archive.captures(URL)] == list(range(1, count + 3))
        assert archive.verify() == (count + 2, [])
        archive.close()

    @pytest.mark.long
    def test_two_processes_number_the_versions_of_a_page_without_gap(self, uri: str) -> None:
        archive_of(uri).close()
        writers = [start_telling(uri, first, 16, 2) for first in (0, 1)]
        assert [writer.wait() for writer in writers] == [0, 0]
        archive = archive_of(uri)
        assert sorted(capture.number or 0 for capture in archive.captures(URL)) == list(range(1, 17))
        assert archive.verify() == (16, [])
        archive.close()

    @pytest.mark.long
    def test_an_archive_is_made_by_two_processes_at_once(self, uri: str) -> None:
        writers = [start_telling(uri, first, first + 1, 1) for first in (0, 1, 2)]
        assert [writer.wait() for writer in writers] == [0, 0, 0]
        archive = archive_of(uri)
        assert len(archive.captures(URL)) == 3
        archive.close()

    # How far the archive has come

    def test_an_archive_keeps_its_identity_and_moves_on_with_what_is_made_durable(
        self, uri: str, store: ArchiveStore, other: ArchiveStore
    ) -> None:
        begun = store.position()
        assert (other.position(), begun.archive) == (begun, store.position().archive)
        store.sync()
        assert store.position() == begun
        put(store, b"first", 0)
        store.sync()
        first = other.position()
        assert first.archive == begun.archive
        assert first.number > begun.number
        put(other, b"next", 1)
        other.sync()
        assert store.position().number > first.number
        again = open_store(uri)
        assert again.position() == store.position()
        again.close()

    # With the archive above it

    @pytest.mark.long
    def test_thirty_versions_of_a_page_rebuild_after_it_was_opened_again(self, uri: str) -> None:
        archive = archive_of(uri)
        for number in range(30):
            assert tell(archive, number).number == number + 1
        archive.close()
        archive = archive_of(uri)
        captures = archive.captures(URL)
        assert [archive.body(capture) for capture in captures] == [story(number) for number in range(30)]
        assert archive.verify() == (30, [])
        archive.close()

    def test_a_page_is_gone_that_was_there_and_not_found_that_never_was(self, uri: str) -> None:
        archive = archive_of(uri)
        visits = [
            *((0, Outcome.NOT_FOUND), (1, Outcome.FETCHED), (2, Outcome.GONE), (3, Outcome.TIMEOUT)),
            *((4, Outcome.NOT_FOUND), (5, Outcome.FETCHED), (6, Outcome.NOT_FOUND)),
        ]
        since = []
        for minute, outcome in visits:
            body = story(0) if outcome is Outcome.FETCHED else b"<p>error"
            page = Page(URL, at(minute), outcome, 200, body=body)
            archive.add(archive.segment(page))
            since.append(archive.gone_since(URL))
        kinds = [capture.kind.value for capture in archive.captures(URL)]
        assert kinds == ["not_found", "new", "gone", "failed", "gone", "revisit", "gone"]
        assert since == [None, None, at(2), at(2), at(2), None, at(6)]
        assert [archive.gone_since(URL, at(minute)) for minute, _ in visits] == since
        archive.close()

    def test_no_version_takes_more_reading_than_the_bound(self, uri: str) -> None:
        bound = 4 * LEAST_COST
        archive, store = archive_of(uri, frame_bound=bound), open_store(uri)
        for number in range(12):
            tell(archive, number)
        depths = [len(store.frames(version.id)) for version in store.versions(URL)]
        assert max(version.cost for version in store.versions(URL)) <= bound
        assert max(depths) == 4
        assert depths != sorted(depths)
        archive.close()
        store.close()

    def test_every_version_that_is_not_pruned_rebuilds(self, uri: str) -> None:
        with archive_of(uri) as archive:
            for number in range(20):
                tell(archive, number)
            archive.prune(URL, Keep.parse("ends"), at(99))
            archive.prune(URL, Keep.parse("ends"), at(99))  # nothing is left to go
            archive.compact()
            assert archive.retention.count() == 18
            assert [capture.pruned for capture in archive.captures(URL)] == [False, *[True] * 18, False]
            assert archive.verify() == (2, [])
            tell(archive, 20)
            page = Page(URL, at(30), Outcome.FETCHED, 200, body=story(7))
            assert archive.add(archive.segment(page)).number == 8
            bodies = {
                capture.number: archive.body(capture)
                for capture in archive.captures(URL)
                if not capture.pruned
            }
            assert bodies == {number + 1: story(number) for number in (0, 7, 19, 20)}
            assert archive.verify() == (4, [])

    def test_a_version_of_another_page_outlives_its_base(self, store: ArchiveStore) -> None:
        first, second = put(store, b"first" * 9, 0), put(store, b"second" * 9, 1)
        frame = encode(b"second" * 9 + b"!", b"second" * 9, 3)
        other = put(store, b"second" * 9 + b"!", 2, url=OTHER, base=second, frame=frame)
        assert store.retention.dependents([second]) == [other]
        with pytest.raises(Conflict):
            store.retention.rewrite([second], {})
        assert decode(store.frames(other.id)[-1:], b"second" * 9) == b"second" * 9 + b"!"
        new = replace(other, base=first.id)
        store.retention.rewrite([second], {new: encode(b"second" * 9 + b"!", b"first" * 9, 3)})
        assert decode(store.frames(other.id)) == b"second" * 9 + b"!"
        assert store.version(second.id).pruned
        assert store.check() == []

    def test_nothing_is_stored_against_a_version_that_was_pruned(self, store: ArchiveStore) -> None:
        first, second = put(store, b"first" * 9, 0), put(store, b"second" * 9, 1)
        store.retention.rewrite([first], {})
        frame = encode(b"second" * 9, b"first" * 9, 3)
        with pytest.raises(Conflict):
            store.retention.rewrite([], {replace(second, base=first.id): frame})
        with pytest.raises(Conflict):
            put(store, b"third" * 9, 2, base=first)
        assert decode(store.frames(second.id)) == b"second" * 9
        assert store.versions(URL)[1:] == [second]
        assert store.check() == []

    def test_a_version_that_was_pruned_meanwhile_stays_pruned(self, store: ArchiveStore) -> None:
        first, second = put(store, b"first" * 9, 0), put(store, b"second" * 9, 1)
        store.retention.rewrite([first], {})
        for frame in (b"", encode(b"first" * 9, None, 3)):
            with pytest.raises(Conflict):
                store.retention.rewrite([second], {first: frame})
        assert [version.pruned for version in store.versions(URL)] == [True, False]
        assert store.check() == []

    def test_a_version_is_restored_once(self, store: ArchiveStore) -> None:
        first = put(store, b"first" * 9, 0)
        store.retention.rewrite([first], {})
        frames = [encode(body * 9, None, 3) for body in (b"first", b"other")]
        store.retention.restore(first, frames[0], store.head(URL), 2)
        with pytest.raises(Conflict):  # later versions may be compressed against the first frame
            store.retention.restore(first, frames[1], store.head(URL), 2)
        assert store.frames(first.id) == frames[:1]
        assert store.check() == []

    def test_a_version_is_restored_with_its_cut_and_counts_the_lineages_of_its_page(
        self, store: ArchiveStore
    ) -> None:
        first, second = put(store, b"first" * 9, 0), put(store, b"second" * 9, 1)
        store.retention.rewrite([first], {})
        cut = replace(first, charset="windows-1252", level=1, segmenter=2, layout=7, blocks=9)
        frame, head = encode(b"first" * 9, None, 3), store.head(URL)
        with pytest.raises(Conflict):  # another writer has given numbers to blocks
            store.retention.restore(cut, frame, replace(head, lineages=head.lineages - 1), 13)
        assert store.version(first.id).pruned
        store.retention.restore(cut, frame, head, 13)
        assert store.versions(URL) == [replace(cut, stored_bytes=len(frame)), second]
        assert store.head(URL) == PageHead(2, 13)
        shown = next(iter(store.captures(URL)))
        assert (shown.level, shown.block_count, shown.pruned) == (1, 9, False)
        assert store.check() == []

    def test_a_pruned_version_that_comes_back_continues_the_blocks_of_its_page(self, uri: str) -> None:
        def lines(*numbers: int) -> bytes:
            return html(*(f"Line {n} tells how {n} towns met and what they decided" for n in numbers))

        def tell_lines(minute: int, *numbers: int, outcome: Outcome = Outcome.FETCHED) -> Capture:
            return archive.add(archive.segment(Page(URL, at(minute), outcome, 200, body=lines(*numbers))))

        with archive_of(uri) as archive:
            for start in range(4):
                last = tell_lines(start, *range(start, start + 4))
            archive.prune(URL, Keep.parse("ends"), at(99))
            again = tell_lines(10, 1, 2, 3, 4)
            then = [block.lineage for block in last.blocks]
            now = [block.lineage for block in again.blocks]
            assert (now[2:], len(set(now) & set(then))) == (then[:2], 4)
            back = tell_lines(11, 1, 2, 3, 4, 7, 8)
            assert len({block.lineage for block in back.blocks}) == 6
            error = tell_lines(12, 2, 3, 4, 5, outcome=Outcome.SERVER_ERROR)
            assert (error.number, error.block_count, error.level) == (3, 4, again.level)
            assert len(archive.blocks(archive.version(URL, 3))) == 4
            assert archive.verify() == (5, [])

    def test_a_new_page_is_stored_against_a_similar_one_of_its_site(self, uri: str) -> None:
        archive, store = archive_of(uri), open_store(uri)
        tell(archive, 0)
        page = Page(OTHER, at(1), Outcome.FETCHED, 200, body=story(1))
        capture = archive.add(archive.segment(page))
        (version,), (like,) = store.versions(OTHER), store.versions(URL)
        assert version.base == like.id
        assert capture.stored_bytes < like.stored_bytes / 2
        assert archive.body(capture) == story(1)
        archive.close()
        store.close()
