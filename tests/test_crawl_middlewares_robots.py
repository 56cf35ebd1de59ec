"""robots.txt by RFC 9309."""

import gzip
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from archivebot.crawl.middlewares.robots import MAX_BYTES, Rules
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html, redirect, robots

BASE = "http://a.example"


def allows(text: str, *paths: str) -> list[bool]:
    rules = Rules.parse(text.encode(), "archivebot")
    return [rules.refusal(BASE + path) is None for path in paths]


def test_a_path_is_a_prefix() -> None:
    paths = "/help.html", "/help/index.html"
    assert allows("User-agent: *\nDisallow: /help", *paths) == [False, False]
    assert allows("User-agent: *\nDisallow: /help/", *paths) == [True, False]


@pytest.mark.parametrize("text", ["", "User-agent: *\nDisallow:\n", "# nothing\n", "\ufeff"])
def test_an_empty_rule_or_file_allows_everything(text: str) -> None:
    assert allows(text, "/", "/x") == [True, True]


def test_several_rules() -> None:
    text = "User-agent: *\nDisallow: /cgi-bin/\nDisallow: /tmp/\nDisallow: /private/\n"
    assert allows(text, "/cgi-bin/a", "/tmp/", "/private/b", "/public") == [False, False, False, True]


def test_the_longest_match_wins_and_allow_wins_a_tie() -> None:
    text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c$\n"
    text += "Allow: /t\nDisallow: /t\nDisallow: /*.pdf$"
    assert allows(text, "/a", "/a/b", "/a/b/c", "/a/b/cd", "/t", "/x.pdf", "/x.pdf?1") == [
        False,
        True,
        False,
        True,
        True,
        False,
        True,
    ]


def test_our_group_overrides_the_generic_one_and_groups_are_combined() -> None:
    text = (
        "User-agent: *\nDisallow: /\n\nUser-agent: ArchiveBot\nDisallow: /a\n\n"
        "User-agent: x\nUser-agent: archivebot\nDisallow: /b\n"
    )
    assert allows(text, "/", "/a", "/b") == [True, False, False]


def test_only_the_whole_product_token_names_us() -> None:
    assert allows("User-agent: archive\nDisallow: /\n", "/x") == [True]
    assert allows("User-agent: archivebot-x\nDisallow: /\n", "/x") == [True]


def test_more_than_the_longest_real_file_is_read() -> None:
    padding = "# filler\n" * (1400 * 1024 // 9)
    assert allows(f"User-agent: *\n{padding}Disallow: /x", "/x") == [False]
    assert MAX_BYTES >= 500 * 1024


def test_garbage_is_skipped() -> None:
    assert Rules.parse(b"\xff\xfe\0\x80 \n<html>\nUser-agent: *\nDisallow: /x", "archivebot").refusal(
        BASE + "/x"
    )


def test_a_refused_page_is_recorded_and_not_fetched(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html("/help.html", "/open"), "/open": html()}
    site.routes["/robots.txt"] = robots("User-agent: *\nDisallow: /help")
    crawled = crawl(seeds=site.url())
    record = crawled.of(site.url("/help.html"))
    assert (record["outcome"], record["kind"], record["status"]) == ("robots_denied", "excluded", None)
    assert record["reason"] == "disallowed by robots.txt"
    assert site.paths() == ["/", "/open"]
    assert len(site.times("/robots.txt")) == 1


@pytest.fixture
def hosts() -> Iterator[dict[int, MockServer]]:
    """One site for each status that its robots.txt has."""
    with ExitStack() as stack:
        yield {
            status: stack.enter_context(
                MockServer({"/": html(), "/robots.txt": robots("User-agent: *\nDisallow: /", status)})
            )
            for status in (500, 503, 429, 404, 403, 401, 410)
        }


def test_a_missing_robots_txt_allows_and_an_unreachable_one_denies_everything(
    hosts: dict[int, MockServer], crawl: Crawl
) -> None:
    crawled = crawl(seeds=",".join(host.url() for host in hosts.values()))
    for status, host in hosts.items():
        record = crawled.of(host.url())
        if status in (500, 503, 429):
            assert record["outcome"] == "robots_denied"
            assert record["reason"] == f"robots.txt unreachable: status {status}"
            assert (len(host.paths()), len(host.times("/robots.txt"))) == (0, 3)
        else:
            assert (record["outcome"], len(host.times("/robots.txt"))) == ("fetched", 1)


def test_a_page_whose_robots_txt_is_unreachable_has_failed_and_is_tried_again_on_request(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes |= {"/": html(), "/robots.txt": robots("", 503)}
    crawl("-s", "RETRY_TIMES=0", seeds=site.url())
    assert crawl.ask("frontier")["states"]["failed"] == 1
    told = crawl.ask("explain", site.url())
    assert (told["state"], told["reason"]) == ("failed", "robots.txt unreachable: status 503")
    site.routes["/robots.txt"] = robots("")
    assert crawl.ask("frontier", "--retry") == {"queued": 1}
    assert crawl(seeds=site.url()).of(site.url())["outcome"] == "fetched"


SHORT = b"User-agent: *\nDisallow: /pri"
LENGTHY = gzip.compress(b"User-agent: *\nDisallow: /secret\n" + b"#" * 200_000)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


CUT = {
    "counted": (OK + b"Content-Length: 99\r\n\r\n" + SHORT, "incomplete"),
    "chunked": (OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(SHORT), SHORT), "incomplete"),
    "coded": (OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(SHORT)[:-9], "incomplete"),
    "bomb": (OK + b"Content-Encoding: gzip\r\n\r\n" + LENGTHY, "too_large"),
    "headers": (OK + b"X-Line: 1\r\n" * 30_000, "incomplete"),
    "cut headers": (OK[:-2], "incomplete"),
}


def test_rules_that_came_short_forbid_everything(crawl: Crawl) -> None:
    with ExitStack() as stack:
        sites = {
            name: stack.enter_context(MockServer({"/": html(), "/robots.txt": Reply(raw=answer)}))
            for name, (answer, _) in CUT.items()
        }
        seeds = ",".join(site.url() for site in sites.values())
        crawled = crawl("-s", "DOWNLOAD_MAXSIZE=100000", "-s", "RETRY_TIMES=0", seeds=seeds)
    for name, site in sites.items():
        record = crawled.of(site.url())
        assert (record["outcome"], site.paths()) == ("robots_denied", []), name
        assert record["reason"] == f"robots.txt unreachable: it is {CUT[name][1]}", name


def test_a_lost_answer_is_asked_for_again(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html(), "/robots.txt": [Reply(raw=b""), robots("User-agent: *\nDisallow:")]}
    assert crawl(seeds=site.url()).of(site.url())["outcome"] == "fetched"


@pytest.mark.long
def test_a_robots_txt_is_asked_for_again_as_late_as_its_server_asks(site: MockServer, crawl: Crawl) -> None:
    busy = Reply(b"busy", 503, (("Retry-After", "1"),))
    site.routes |= {"/": html(), "/robots.txt": [busy, robots("")]}
    assert crawl(seeds=site.url()).of(site.url())["outcome"] == "fetched"
    first, second = site.times("/robots.txt")
    assert second - first >= 1


def test_five_redirects_of_robots_txt_are_followed_and_a_sixth_counts_as_none(crawl: Crawl) -> None:
    rules = robots("User-agent: *\nDisallow: /")
    five = {f"/r{hop}": redirect(f"/r{hop + 1}") for hop in range(1, 5)}
    first = {"/": html(), "/robots.txt": redirect("/r1"), **five}
    with (
        MockServer({**first, "/r5": rules}) as followed,
        MockServer({**first, "/r5": redirect("/r6"), "/r6": rules}) as left,
    ):
        crawled = crawl(seeds=f"{followed.url()},{left.url()}")
    assert crawled.of(followed.url())["outcome"] == "robots_denied"
    assert crawled.of(left.url())["outcome"] == "fetched"


def test_a_redirect_of_robots_txt_to_bytes_that_are_no_utf8_is_followed(
    site: MockServer, crawl: Crawl
) -> None:
    rules = robots("User-agent: *\nDisallow: /")
    site.routes |= {"/": html(), "/robots.txt": redirect("/r\xe9gles.txt"), "/r%E9gles.txt": rules}
    assert crawl(seeds=site.url()).of(site.url())["outcome"] == "robots_denied"


def test_rules_are_read_again_when_they_expire(site: MockServer, crawl: Crawl) -> None:
    rules = [robots(""), robots("User-agent: *\nDisallow: /late")]
    site.routes |= {"/": Reply(html("/late").body, delay=0.3), "/late": html(), "/robots.txt": rules}
    crawled = crawl("-s", "ARCHIVE_ROBOTS_EXPIRY=0.2", seeds=site.url())
    assert crawled.of(site.url("/late"))["outcome"] == "robots_denied"


def test_the_operator_may_switch_it_off(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html(), "/robots.txt": robots("User-agent: *\nDisallow: /")}
    assert crawl("-s", "ROBOTSTXT_OBEY=0", seeds=site.url()).of(site.url())["outcome"] == "fetched"
    assert site.times("/robots.txt") == []
