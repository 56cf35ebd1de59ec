"""The pages of the interface, over an archive with every kind of capture."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest

from archivebot.bounds import MOST_TAGS
from archivebot.models import Outcome
from archivebot.vision.render import BROWSERS
from tests.conftest import Crawl
from tests.factories import URL, html, make_page
from tests.mockserver import MockServer, Reply, markup
from tests.served import Served, archived, serving

ONE = html("The library is open on Monday", "Second", head="<style>p { color: red }</style>")
TWO = html("The library is open on Friday", "Second", "A third <b>paragraph</b> &amp; more")
WIRE = (("Content-Type", "text/html; charset=utf-8"), ("X-Odd", "<b>bold</b>"))
LOADS = '<link rel=stylesheet href="s.css?a&amp;b"><link rel=icon href=/i.png><link rel=icon href=/i.png>'
QUERY = "url=http%3A%2F%2Fexample.com%2Fpage"
LARGE = b"<title>Large</title>" + b"<p>x" * MOST_TAGS


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('pages')}/archive.db"
    pages = [
        make_page(ONE, 0),
        make_page(ONE, 31),
        make_page(TWO, 32, headers=WIRE),
        make_page(b"", 400, outcome=Outcome.TIMEOUT, status=None),
        make_page(b"gone", 401, outcome=Outcome.GONE, status=410),
        make_page(html("only", head=LOADS), 0, url="http://example.com/only"),
        make_page("Größe".encode("utf-16"), 0, url="http://example.com/wide"),
        make_page(
            b"\x89PNG\r\n\x1a\n", 4, url="http://example.com/i.png", headers=(("Content-Type", "image/png"),)
        ),
        *(make_page(html("x"), 2, url=f"http://many.example/{number:03}") for number in range(102)),
    ]
    with serving(archived(uri, pages)) as served:
        yield served


def text(server: Served, path: str) -> str:
    """Return the text of a page without its tags."""
    answer = server.get(path)
    assert answer.status == 200, answer.text
    return re.sub(r"\s+", " ", unescape(re.sub("<[^>]*>", " ", answer.text)))


def hrefs(server: Served, path: str) -> list[str]:
    return [unescape(each) for each in re.findall(r'<a[^>]*href="([^"]*)"', server.get(path).text)]


def test_the_start_has_the_sites_the_storage_and_the_last_changes(server: Served) -> None:
    found = text(server, "/")
    assert "example.com 4 8 5" in found
    assert "many.example 102 102 102" in found
    assert "Captures 110" in found
    assert re.search(r"2027-02-06 00:00:00 gone http://example\.com/page", found)


def test_a_site_lists_its_pages_in_parts(server: Served) -> None:
    first = hrefs(server, "/site?url=http://many.example/")
    assert sum("/page?url=" in each for each in first) == 100
    (following,) = [each for each in first if "after=" in each]
    rest = hrefs(server, following)
    assert [each[-3:] for each in rest if "/page?url=" in each] == ["100", "101"]
    assert not [each for each in rest if "after=" in each]
    assert "No page of this site was captured" in text(server, "/site?url=http://none.example/")


def test_a_time_line_marks_each_capture(server: Served) -> None:
    found = text(server, f"/page?{QUERY}&year=2026")
    assert "5 captures, 2 versions" in found
    assert "Gone since 2027-02-06 00:00:00" in found
    assert "2026-02-02 00:00:00 changed 200 2 delta" in found
    assert "2026-02-01 00:00:00 revisit 200 1" in found
    page = server.get(f"/page?{QUERY}").text
    marks = re.findall(r'<rect class="(\w+)"', page)
    assert marks == ["new", "none", "content", "failed", "gone"]
    assert "<h2>2027</h2>" in page
    days = re.findall(
        r'<a class="(\w+)"\s+href="(/web/\d+/[^"]*)"', server.get(f"/page?{QUERY}&year=2026").text
    )
    assert days == [
        ("new", f"/web/20260101000000/{URL}"),
        ("none", f"/web/20260201000000/{URL}"),
        ("content", f"/web/20260202000000/{URL}"),
    ]


def test_a_time_line_of_one_day_names_it_once(server: Served) -> None:
    query = "url=http%3A%2F%2Fexample.com%2Fonly"
    assert "1 capture, 1 version, on 2026-01-01 ." in text(server, f"/page?{query}")
    assert 'aria-label="Captures of 2026-01-01"' in server.get(f"/page?{query}").text
    assert "2 versions, from 2026-01-01 to 2027-02-06 ." in text(server, f"/page?{QUERY}")


def test_a_version_shows_fields_blocks_and_headers(server: Served) -> None:
    found = text(server, f"/version?{QUERY}")
    assert "Version 2 of 2" in found
    assert "A third paragraph & more" in found
    assert "X-Odd: <b>bold</b>" in found
    assert "these are the headers as they were read" in found
    assert "Version 1 of 2" in text(server, f"/version?{QUERY}&number=1")
    assert "Version 1 of 2" in text(server, f"/version?{QUERY}&at=20260115")
    assert "a PNG picture, 8 B" in text(server, "/version?url=example.com/i.png")
    assert "Größe" in text(server, "/version?url=example.com/wide")


def test_a_time_to_the_second_leads_to_the_capture_within_it(tmp_path: Path) -> None:
    times = {"20260101000000": 0.4, "20260101000008": 8.7}  # by the second after midnight
    pages = [make_page(html(at), since / timedelta(days=1).total_seconds()) for at, since in times.items()]
    with serving(archived(f"sqlite:///{tmp_path}/archive.db", pages)) as server:
        for number, at in enumerate(times, 1):
            query = f"{QUERY}&at={at}"
            assert f"/version?{query}" in hrefs(server, f"/page?{QUERY}")
            assert f"/version?{query}" in hrefs(server, f"/web/{at}/{URL}")
            assert f"Version {number} of 2" in text(server, f"/version?{query}")
            assert server.get(f"/api/version?{query}").json["version"] == number
            assert at in text(server, f"/web/{at}/{URL}")
            assert f"/web/{at}/{URL}" in hrefs(server, f"/resources?{query}")


def test_a_host_of_a_crawl_leads_to_its_site_with_its_port(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = Reply(markup([]))
    assert crawl(seeds=site.url()).code == 0
    with serving(crawl.uri) as server:
        (address,) = [each for each in hrefs(server, "/frontier") if each.startswith("/site?")]
        assert site.url() in text(server, address)


def test_what_cannot_be_replayed_has_no_link_to_it(tmp_path: Path) -> None:
    refused = make_page(b"", 0, outcome=Outcome.ROBOTS_DENIED, status=None, headers=())
    with serving(archived(f"sqlite:///{tmp_path}/archive.db", [refused])) as server:
        assert not [each for each in hrefs(server, f"/page?{QUERY}") if each.startswith("/web/")]


def test_a_delta_marks_the_words_and_the_blocks(server: Served) -> None:
    answer = server.get(f"/delta?{QUERY}").text
    assert "<del>Monday</del><ins>Friday</ins>" in answer
    assert "Content changed:" in answer
    frames = [unescape(each) for each in re.findall(r'<iframe[^>]*src="([^"]*)"', answer)]
    before, after = (server.get(each.partition("#")[0]) for each in frames)
    assert re.findall(r'<p data-archivebot-change="(\w+)"', before.text) == ["modified"]
    assert re.findall(r'<p data-archivebot-change="(\w+)" id="(\S+)"', after.text) == [
        ("modified", "archivebot-1"),
        ("added", "archivebot-2"),
    ]
    for each in (before, after):
        assert "sandbox" in (each.header("Content-Security-Policy") or "")


def test_a_version_beside_itself_has_no_change(server: Served) -> None:
    assert "Nothing changed: the same bytes." in text(server, f"/delta?{QUERY}&from=2&to=2")


def test_a_changed_title_is_named_in_a_delta(tmp_path: Path) -> None:
    pages = [make_page(f"<title>{day}</title><p>words".encode(), day) for day in range(2)]
    with serving(archived(f"sqlite:///{tmp_path}/a.db", pages)) as server:
        assert "title: <del>0</del> <ins>1</ins>" in server.get(f"/delta?{QUERY}").text


def test_resources_have_their_distance_from_the_page(server: Served) -> None:
    found = text(server, "/resources?url=example.com/only")
    assert "2 resources, 1 not captured" in found
    assert "http://example.com/i.png image 2026-01-05 00:00:00 4 days after" in found
    assert "http://example.com/s.css?a&b style sheet not captured" in found
    assert "0 resources" in text(server, "/resources?url=example.com/i.png&at=2026")


def test_the_resources_of_a_set_of_images_end_before_the_comma(tmp_path: Path) -> None:
    pages = [make_page(b"<img srcset='/i.png, /j,.png 2x'>"), make_page(url="http://example.com/i.png")]
    with serving(archived(f"sqlite:///{tmp_path}/archive.db", pages)) as served:
        found = text(served, "/resources?url=example.com/page")
    assert "2 resources, 1 not captured" in found
    assert "http://example.com/i.png image 2026-01-01" in found
    assert "http://example.com/j,.png image not captured" in found


def test_a_block_is_shown_through_time(server: Served) -> None:
    lineage, *_ = re.findall(r"lineage=([\w-]+)", server.get(f"/delta?{QUERY}").text)
    found = text(server, f"/block?{QUERY}&lineage={lineage}")
    assert "2 states" in found
    assert "2026-01-01 00:00:00 first seen version 1" in found
    assert "2026-02-02 00:00:00 changed version 2" in found


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/page", 400, "url is missing: write /page?url=..."),
        ("/page?url=none.example", 404, "was never captured"),
        ("/site", 400, "url is missing"),
        (f"/version?{QUERY}&number=9", 404, "has no version 9"),
        (f"/version?{QUERY}&number=x", 400, "write the number of a version"),
        (f"/version?{QUERY}&at=x", 400, "write 1 to 14 digits"),
        ("/delta?url=example.com/only", 404, "there is nothing to compare"),
        (f"/delta?{QUERY}&from=x", 400, "write the number of a version"),
        (f"/delta?{QUERY}&to=1", 404, "is the first: there is none before it"),
        (f"/delta?{QUERY}&from=1&to=1", 200, "the same bytes"),
        ("/topic?topic=%28%28%28", 400, "at least one meaningful word"),
        (f"/delta?{QUERY}&to=7", 404, "has no version"),
        (f"/marked?{QUERY}&side=left", 400, "write before or after"),
        ("/resources?url=example.com/only&at=x", 400, "write 1 to 14 digits"),
        (f"/block?{QUERY}", 400, "lineage is missing"),
        (f"/block?{QUERY}&lineage=x", 404, "has no block 'x'"),
        ("/nothing", 404, "there is no page /nothing"),
        ("/static/nothing", 404, "there is no page /static/nothing"),
    ],
)
def test_what_is_not_there_is_said(server: Served, path: str, status: int, message: str) -> None:
    answer = server.get(path)
    assert answer.status == status
    assert message in unescape(answer.text)


def test_the_page_for_a_missing_block_leads_to_the_blocks(server: Served) -> None:
    answer = server.get(f"/block?{QUERY}&lineage=x")
    assert "scrapy" not in re.sub("<title>.*?</title>", "", answer.text)
    (path,) = re.findall(r'href="(/version[^"]*)"', answer.text)
    assert "Text by blocks" in server.get(unescape(path)).text


PAGES = [
    "/",
    "/site?url=http://example.com/",
    f"/page?{QUERY}",
    f"/version?{QUERY}",
    f"/delta?{QUERY}",
    "/nothing",
]


@pytest.mark.long
def test_pages_fit_any_screen_and_ask_nothing_of_others(server: Served) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no browser: apt-get install chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program)
        for width in (320, 360, 1280):
            context = browser.new_context(viewport={"width": width, "height": 800}, java_script_enabled=False)
            page = context.new_page()
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            for path in PAGES:
                page.goto(server.host + path)
                widest = page.evaluate("document.documentElement.scrollWidth")
                assert widest <= width, (path, width)
                assert page.locator("h1").count() == 1, path
                assert page.locator("html[lang=en]").count() == 1
            assert {each for each in asked if not each.startswith(server.address)} == set()
        browser.close()


def test_a_page_that_was_too_large_to_be_cut_has_its_bytes_and_its_title(tmp_path: Path) -> None:
    uri = archived(f"sqlite:///{tmp_path}/a.db", [make_page(LARGE, 0, url="http://example.com/large")])
    with serving(uri) as server:
        assert f"not cut: {MOST_TAGS} tags or more" in text(server, "/version?url=example.com/large")
        record = server.get("/api/version?url=example.com/large").json
        assert (record["title"], record["text"], record["fields"]) == ("Large", "", {})
        assert server.get("/web/2026id_/http://example.com/large").body == LARGE


def test_a_site_that_only_failed_is_not_called_uncaptured(tmp_path: Path) -> None:
    failed = make_page(b"x", outcome=Outcome.SERVER_ERROR, status=500)
    with serving(archived(f"sqlite:///{tmp_path}/a.db", [failed])) as server:
        assert "No page of this site was captured with content." in text(server, f"/site?{QUERY}")
        assert "has no second version: there is nothing to compare" in server.get(f"/delta?{QUERY}").text
