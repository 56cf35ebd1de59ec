"""The crawl itself: every status and failure is recorded, order, depth, cycles, redirects."""

import gzip
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from archivebot.exceptions import NothingFetched
from tests.conftest import Crawl, Crawled
from tests.mockserver import Asked, MockServer, Reply, html, markup, redirect

LINK = b'<a href="/from">x</a>'
STATUSES = {  # status: outcome, kind, tries
    200: ("fetched", "new", 1),
    201: ("fetched", "new", 1),
    202: ("accepted", "failed", 3),
    204: ("no_content", "failed", 1),
    300: ("redirect", "redirect", 1),
    301: ("redirect", "redirect", 1),
    302: ("redirect", "redirect", 1),
    303: ("redirect", "redirect", 1),
    304: ("not_modified", "failed", 1),  # a revisit of what? nothing is archived yet
    307: ("redirect", "redirect", 1),
    308: ("redirect", "redirect", 1),
    400: ("client_error", "failed", 1),
    401: ("denied", "failed", 1),
    403: ("denied", "failed", 1),
    404: ("not_found", "not_found", 1),
    408: ("throttled", "failed", 3),
    410: ("gone", "not_found", 1),
    429: ("throttled", "failed", 3),
    451: ("denied", "failed", 1),
    500: ("server_error", "failed", 3),
    501: ("server_error", "failed", 3),
    503: ("server_error", "failed", 3),
}
MOVED = (201, 301, 302, 303, 307, 308)
FAILURES = {  # path: answer, outcome, tries
    "/slow": (Reply(b"late", delay=3), "timeout", 3),
    "/hangup": (Reply(raw=b""), "unreachable", 3),
    "/short": (Reply(b"half of it", length=1000), "incomplete", 3),
    "/chunk": (Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nab"), "incomplete", 3),
    "/large": (Reply(b"x" * 50_001), "too_large", 1),
    "/larger": (Reply(raw=b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 90_000), "too_large", 1),
    "/bomb": (Reply(b"", headers=(("Content-Encoding", "gzip"),)), "too_large", 1),
    "/nonsense": (Reply(raw=b"<h1>no HTTP</h1>\r\n\r\n"), "protocol_error", 1),
}


def status_reply(status: int) -> Reply:
    location = (("Location", f"/to/{status}"),) if status in MOVED else ()
    return Reply(LINK.replace(b"from", b"from/%d" % status), status, location)


@pytest.fixture(scope="module")
def statuses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[MockServer, Crawled]]:
    routes = {f"/{status}": status_reply(status) for status in STATUSES}
    with MockServer({"/": html(*routes), **routes}) as site:
        yield (
            site,
            Crawl(tmp_path_factory.mktemp("statuses"))("-s", "ARCHIVE_RETRY_CEILING=0.2", seeds=site.url()),
        )


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_its_outcome_and_one_record(
    statuses: tuple[MockServer, Crawled], status: int
) -> None:
    site, crawled = statuses
    outcome, kind, tries = STATUSES[status]
    record = crawled.of(site.url(f"/{status}"))
    assert (record["status"], record["outcome"], record["kind"]) == (status, outcome, kind)
    assert len(site.times(f"/{status}")) == tries


@pytest.mark.parametrize("status", MOVED)
def test_the_target_of_a_redirect_is_a_link(statuses: tuple[MockServer, Crawled], status: int) -> None:
    site, crawled = statuses
    assert crawled.of(site.url(f"/{status}"))["location"] == site.url(f"/to/{status}")
    assert len(site.times(f"/to/{status}")) == 1


def test_links_are_read_from_content_only(statuses: tuple[MockServer, Crawled]) -> None:
    site, _ = statuses
    followed = {path for path in site.paths() if path.startswith("/from/")}
    assert followed == {"/from/200", "/from/201", "/from/300"}


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[MockServer, Crawled]]:
    routes = {path: answer for path, (answer, _, _) in FAILURES.items()}
    packed = gzip.compress(b"x" * 1_000_000)
    routes["/bomb"] = Reply(packed, headers=(("Content-Encoding", "gzip"),))
    with MockServer({"/": html(*routes), **routes}) as site:
        options = ["-s", "DOWNLOAD_TIMEOUT=0.5", "-s", "DOWNLOAD_MAXSIZE=50000"]
        yield site, Crawl(tmp_path_factory.mktemp("failures"))(*options, seeds=site.url())


@pytest.mark.parametrize("path", FAILURES)
def test_every_failure_has_its_outcome_and_a_reason(failures: tuple[MockServer, Crawled], path: str) -> None:
    site, crawled = failures
    _, outcome, tries = FAILURES[path]
    record = crawled.of(site.url(path))
    assert (record["outcome"], record["kind"]) == (outcome, "failed")
    assert record["reason"]
    assert record["version"] is None
    assert (record["digest"] is not None) == (outcome == "incomplete")  # what came of a short body is kept
    # Twisted itself asks again where a connection kept alive turns out to be closed.
    assert tries <= len(site.times(path)) <= (2 * tries if path == "/hangup" else tries)


def test_failures_leave_no_traceback(failures: tuple[MockServer, Crawled]) -> None:
    _, crawled = failures
    assert "Traceback" not in crawled.log
    assert "ScrapyDeprecationWarning" not in crawled.log


def test_nobody_listens_and_no_such_host(crawl: Crawl) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/"
    crawled = crawl(
        "-s", "RETRY_TIMES=0", "-s", "ROBOTSTXT_OBEY=0", seeds=f"{closed},http://no-such-host.invalid/"
    )
    assert [record["outcome"] for record in crawled.records] == ["unreachable"] * 2
    assert crawled.code == NothingFetched.exit_code


def test_a_host_that_cannot_be_reached_is_recorded_with_robots_on(crawl: Crawl) -> None:
    crawled = crawl("-s", "RETRY_TIMES=0", seeds="http://no-such-host.invalid/")
    assert crawled.records[0]["outcome"] in ("robots_denied", "unreachable")
    assert "no-such-host" in crawled.records[0]["reason"]
    assert "ARCHIVE_CONTACT is not set" in crawled.log


def test_breadth_first_and_each_page_once(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {
        "/a": html("/b", "/c", "/d", "/e", "/f"),
        "/b": html(),
        "/c": html(),
        "/d": html(),
        "/e": html("/h"),
        "/f": html("/g"),
        "/h": html("/i", "/a"),
        "/g": html(),
        "/i": html("/b"),
    }
    crawl("-s", "CONCURRENT_REQUESTS=1", "-s", "ARCHIVE_READERS=1", seeds=site.url("/a"))
    assert "".join(site.paths()).replace("/", "") == "abcdefhgi"


def test_depth(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {f"/{depth}": html(f"/{depth + 1}") for depth in range(6)}
    crawl(seeds=site.url("/0"), depth=2)
    assert site.paths() == ["/0", "/1", "/2"]
    site.asked.clear()
    crawl(seeds=site.url("/0"), depth=0)
    assert site.paths() == ["/0"]


def test_a_redirect_costs_no_depth(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/0": redirect("/1"), "/1": html("/2"), "/2": html("/3")}
    crawl(seeds=site.url("/0"), depth=1)
    assert site.paths() == ["/0", "/1", "/2"]


def test_a_cycle_is_cut(site: MockServer, crawl: Crawl) -> None:
    links = {"/a": "/b", "/b": "/c", "/c": "/d", "/d": "/b"}
    site.routes |= {path: html(target, "/e") for path, target in links.items()} | {"/e": html()}
    crawl(seeds=site.url("/a"))
    assert sorted(site.paths()) == ["/a", "/b", "/c", "/d", "/e"]


def test_session_ids_make_no_new_pages(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html("/x;jsessionid=1", "/x;jsessionid=2", "/x?PHPSESSID=3", "/x"), "/x": html()}
    crawl(seeds=site.url())
    assert site.paths() == ["/", "/x"]


def test_redirects_are_bounded_and_loops_are_cut(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {f"/r{hop}": redirect(f"/r{hop + 1}") for hop in range(9)}
    site.routes |= {"/": html("/r0", "/self", "/ping"), "/self": redirect("/self")}
    site.routes |= {"/ping": redirect("/pong"), "/pong": redirect("/ping")}
    crawled = crawl(seeds=site.url())
    assert [path for path in site.paths() if path.startswith("/r")] == [f"/r{hop}" for hop in range(6)]
    assert crawled.stat("guard/redirect_chain") == 1
    assert [len(site.times(path)) for path in ("/self", "/ping", "/pong")] == [1, 1, 1]


def test_a_redirect_without_a_target_is_recorded(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = Reply(b"", 302)
    record = crawl(seeds=site.url()).of(site.url())
    assert (record["outcome"], record["location"]) == ("redirect", None)


def test_we_say_who_we_are_and_send_no_cookies(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": Reply(markup(["/a"]), headers=(("Set-Cookie", "a=1"),)), "/a": html()}
    crawled = crawl("-s", "ARCHIVE_CONTACT=http://us.example/", seeds=site.url())
    assert len(site.asked) == 3
    for asked in site.asked:
        assert re.fullmatch(r"archivebot/\S+ \(\+http://us.example/\)", asked.headers["User-Agent"])
        assert "Cookie" not in asked.headers
    assert "ARCHIVE_CONTACT is not set" not in crawled.log


def test_the_level_is_passed_on(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html(text="words")
    assert crawl(seeds=site.url(), level=2).of(site.url())["level"] == 2


def test_any_charset_and_any_bytes_are_archived(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {
        "/": html("/sjis", "/bin", "/lies", "/utf16"),
        "/sjis": Reply('<a href="/日">日</a>'.encode("shift_jis"), type="text/html; charset=shift_jis"),
        "/bin": Reply(bytes(range(256)) * 9, type="text/html; charset=nonsense"),
        "/lies": Reply(b"\xff\xfe\0<a href=/x", type="image/png"),
        "/utf16": Reply('<a href="/y">y</a>'.encode("utf-16"), type="text/html"),
    }
    crawled = crawl(seeds=site.url())
    assert {"/%E6%97%A5", "/y"} <= set(site.paths())
    assert all(record["digest"] for record in crawled.records)
    assert crawled.of(site.url("/bin"))["size"] == 256 * 9


def test_several_seeds_from_a_file(site: MockServer, crawl: Crawl, tmp_path: Path) -> None:
    site.routes |= {"/a": html(), "/b": html()}
    seeds = tmp_path / "seeds"
    seeds.write_text(f"# two\n{site.url('/a')}\n{site.url('/b')}\n")
    crawl(seeds=f"@{seeds}")
    assert sorted(site.paths()) == ["/a", "/b"]


def test_a_link_found_twice_at_once_is_fetched_once(site: MockServer, crawl: Crawl) -> None:
    def answer(_: Asked) -> Reply:
        return Reply(markup(["/x", "/x#a", "/y/../x"]))

    site.routes |= {"/": answer, "/x": answer}
    assert len(crawl(seeds=site.url()).records) == len(site.paths()) == 2


@pytest.mark.long
@pytest.mark.parametrize("depth", [2, 3])
def test_a_page_has_the_depth_of_its_shortest_path_also_if_a_longer_one_is_found_first(
    site: MockServer, crawl: Crawl, depth: int
) -> None:
    site.routes |= {
        "/": html("/slow", "/quick"),
        "/quick": html("/longer"),
        "/longer": html("/busy", "/later", "/page"),  # the page is too deep, or queued
        "/busy": Reply(delay=3),
        "/later": Reply(delay=3),
        "/slow": Reply(markup(["/page"]), delay=1.5),
        "/page": html("/last"),
        "/last": html(),
    }
    crawl("-s", "ARCHIVE_LOCAL_CONCURRENCY=2", seeds=site.url(), depth=depth)
    assert site.paths().count("/page") == 1
    assert site.paths().count("/last") == depth - 2
