"""What a POST brings is kept under a key of its own, in a crawl and in an ingest, as pywb keys it."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.http.codings import zstd
from archivebot.urls import urlkey, with_method
from archivebot.warc import Damage, read_pages
from archivebot.warc.source import Source
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply
from tests.servers import redis_server, redis_uri
from tests.test_ingest import record_of

__all__ = ["redis_server", "redis_uri"]

WARCS = Path(__file__).parent / "warc"
URL = "http://example.com/search?p=1"
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("frontier", ["sqlite", "redis"])
def test_a_spider_that_posts_keeps_each_answer_under_its_own_key(
    crawl: Crawl, site: MockServer, frontier: str, request: pytest.FixtureRequest
) -> None:
    replies = [
        Reply(b"<p>The first page.</p>"),
        Reply(b"<p>Ships.</p>"),
        Reply(b"", 503),
        Reply(b"<p>Timber.</p>"),
    ]
    site.routes["/search"] = replies
    url = site.url("/search")
    posting = Crawl(crawl.folder, "posting")
    redis = f"REDIS_URL={request.getfixturevalue('redis_uri')}" if frontier == "redis" else "REDIS_URL="
    options = ("-s", "SPIDER_MODULES=tests.posting", "-s", "CONCURRENT_REQUESTS=1", "-s", redis)
    options += ("-s", f"ARCHIVE_WARC={crawl.folder}/warc")
    done = posting(*options, seeds=url, depth=0)
    assert done.code == 0, done.log
    keys = [url, f"{url}?__wb_method=POST&q=ships", f"{url}?__wb_method=POST&q=timber"]
    assert sorted(record["url"] for record in done.records) == sorted(keys)
    assert {record["kind"] for record in done.records} == {"new"}
    assert {record["version"] for record in done.records} == {1}
    with closing(Archive.open(ArchiveConfig(uri=crawl.uri))) as archive:
        assert len({archive.body(archive.at(key, None)) for key in keys}) == 3
    (raw,) = (crawl.folder / "warc").glob("*.warc.gz")
    written = [found for found, _ in urls(raw) if "/robots.txt" not in found]
    assert sorted(written) == sorted([*keys, keys[2]])  # the first answer to the last one was 503


def request(method: str, body: bytes = b"", kind: str = FORM) -> bytes:
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{method} /search?p=1 HTTP/1.1\r\nContent-Type: {kind}\r\n{length}\r\n".encode() + body


def answer(text: str) -> bytes:
    return f"HTTP/1.1 200 OK\r\n\r\n{text}".encode()


def urls(path: Path) -> list[tuple[str, bytes]]:
    def refuse(damage: Damage) -> None:
        raise AssertionError(str(damage))

    return [(item.page.url, item.page.body) for item in read_pages(path, refuse)]


DAY = "2020-01-01T00:00:00Z"
ASKED, ANSWERED = "<urn:uuid:1>", "<urn:uuid:2>"
KEY = f"{URL}&__wb_method=POST&q=ships"


def test_a_record_without_an_id_does_not_end_the_search_for_requests(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    asked = {"WARC-Record-ID": ASKED, "WARC-Concurrent-To": ANSWERED}
    path.write_bytes(
        b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 2\r\n\r\na:\r\n\r\n"
        + record_of(request("POST", b"q=ships"), "request", DAY, URL, asked)
        + record_of(answer("ships"), "response", DAY, URL, {"WARC-Record-ID": ANSWERED})
    )
    assert urls(path) == [(KEY, b"ships")]


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ({"WARC-Record-ID": ASKED, "WARC-Concurrent-To": ANSWERED}, {"WARC-Record-ID": ANSWERED}),
        ({"WARC-Record-ID": ASKED}, {"WARC-Concurrent-To": f"<urn:uuid:9>\r\nWARC-Concurrent-To: {ASKED}"}),
    ],
)
def test_records_that_name_each_other_belong_together_in_any_order(
    order: tuple[int, ...], asked: dict[str, str], answered: dict[str, str], tmp_path: Path
) -> None:
    records = [
        record_of(request("POST", b"q=ships"), "request", DAY, URL, asked),
        record_of(answer("ships"), "response", DAY, URL, answered),
        record_of(answer("page"), "response", DAY, URL, {"WARC-Concurrent-To": "<urn:uuid:8>"}),
    ]
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join(records[index] for index in order))
    assert sorted(urls(path)) == sorted([(KEY, b"ships"), (URL, b"page")])


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)])
def test_records_without_names_belong_to_their_neighbour_of_the_same_uri_and_date(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    records = [
        record_of(request("POST", b"q=ships"), "request", DAY, URL),
        record_of(answer("ships"), "response", DAY, URL),
        record_of(request("GET"), "request", DAY, URL),
        record_of(answer("page"), "response", DAY, URL),
    ]
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join(records[index] for index in order))
    assert sorted(urls(path)) == sorted([(KEY, b"ships"), (URL, b"page")])


PACKINGS: dict[str, Callable[[list[bytes]], bytes]] = {
    "plain": b"".join,
    "gzip": lambda records: b"".join(map(gzip.compress, records)),
    "gzip in one": lambda records: gzip.compress(b"".join(records)),
    "gzip in pairs": lambda records: b"".join(
        gzip.compress(b"".join(records[at : at + 2])) for at in range(0, len(records), 2)
    ),
    "zstd": lambda records: b"".join(bytes(zstd.compress(record)) for record in records),
}


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_request_far_behind_its_answer_is_found_in_each_kind_of_file(packing: str, tmp_path: Path) -> None:
    long = {
        "WARC-Type": "request",
        "WARC-Target-URI": f"{URL}&{'x' * 5000}",
        "warc-concurrent-to": "<urn:uuid:3>",
    }
    records = [
        record_of(answer("ships"), "response", DAY, URL, {"WARC-Record-ID": ANSWERED}),
        record_of(answer("long"), "response", DAY, URL, {"WARC-Record-ID": "<urn:uuid:3>"}),
        *(record_of(answer(str(n)), "response", DAY, f"{URL}&n={n}") for n in range(20)),
        record_of(request("GET"), "request", DAY, f"{URL}&n=19"),
        record_of(random.Random(1).randbytes(400_000), "resource", DAY, f"{URL}&n=20"),
        record_of(request("POST", b"q=far"), "request", DAY, URL, long),
        record_of(
            request("POST", b"q=ships"),
            "request",
            DAY,
            URL,
            {"WARC-Record-ID": ASKED, "WARC-Concurrent-To": ANSWERED},
        ),
    ]
    path = tmp_path / "x.warc"
    path.write_bytes(PACKINGS[packing](records))
    found = urls(path)
    assert found[:3] == [
        (KEY, b"ships"),
        (f"{URL}&{'x' * 5000}&__wb_method=POST&q=far", b"long"),
        (f"{URL}&n=0", b"0"),
    ]
    assert len(found) == 23


def test_requests_beside_their_answers_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = dict[str, Path]()
    for name, more in (("beside", 0), ("far", 50)):
        pairs: list[bytes] = []
        for n in range(100):
            named = {"WARC-Concurrent-To": f"<urn:uuid:{n - more}>"}
            pairs.append(
                record_of(answer("x" * 1000), "response", DAY, URL, {"WARC-Record-ID": f"<urn:uuid:{n}>"})
            )
            pairs.append(record_of(request("GET"), "request", DAY, URL, named))
        files[name] = tmp_path / f"{name}.warc.gz"
        files[name].write_bytes(PACKINGS["gzip"](pairs))
    decoded = list[int]()
    first = Source._enter

    def counted(source: Source, offset: int) -> None:
        decoded.append(offset)
        first(source, offset)

    monkeypatch.setattr(Source, "_enter", counted)
    counts = {}
    for name, path in files.items():
        decoded.clear()
        assert len(urls(path)) == 100
        counts[name] = len(decoded)
    assert counts == {"beside": 200, "far": 400}


def test_the_answers_of_real_files_have_the_keys_of_pywb() -> None:
    found = [
        urlkey(url) for name in ("post-test.warc.gz", "post-test-more.warc") for url, _ in urls(WARCS / name)
    ]
    assert found == [
        "org,httpbin)/post?__wb_method=post&foo=bar&test=abc",
        "org,httpbin)/post?__wb_method=post&a=1&b=[]&c=3",
        "org,httpbin)/post?__wb_method=post&data=^&foo=bar",
        "org,httpbin)/post?__wb_method=post&another=more^data&test=some+data",
        "org,httpbin)/post?__wb_method=post&a=json-data",
        "org,httpbin)/post?__wb_method=post&__wb_post_data=c29tzwnodw5rlwvuy29kzwrkyxrh",
    ]


MULTIPART = (
    b'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\nships\r\n'
    b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.bin"\r\n\r\n\xff\r\n--x--\r\n'
)


@pytest.mark.parametrize(
    ("kind", "body", "query"),
    [
        (FORM, b"q=a%23b&r=1#2", "q=a%23b&r=1%232"),
        (FORM, b"\xff", "__wb_post_data=%2Fw%3D%3D"),
        ("application/json", b'{"q": ["a", {"q": "b"}], "n": 1}', "q=a&q.2_=b&n=1"),
        ("text/plain", b'{"q": "a"}\n{"q": "b"}', "q=a&q.2_=b"),
        ("text/plain", b"ships", "__wb_post_data=c2hpcHM%3D"),
        ("application/json", b"[" * 100_000, "__wb_post_data=sha256:"),
        ("multipart/form-data; boundary=x", MULTIPART, "q=ships&f=%FF"),
        ("multipart/form-data", b"ships", "__wb_post_data=c2hpcHM%3D"),
        (FORM, b"q=" + b"a" * 5000, "__wb_post_data=sha256:"),
        ("", b"", ""),
    ],
)
def test_a_body_becomes_fields_of_the_query(kind: str, body: bytes, query: str) -> None:
    key = with_method("http://a.example/", "POST", kind, body)
    assert key.startswith(f"http://a.example/?__wb_method=POST{'&' if query else ''}{query}")
    assert query.endswith(":") or key.endswith(query or "POST")


def test_a_get_with_a_body_is_no_plain_get_and_a_head_is() -> None:
    assert with_method(URL, "GET", FORM, b"q=1") == f"{URL}&__wb_method=GET&q=1"
    assert with_method(URL, "HEAD") == with_method(URL, "get") == URL
