"""The spider that looks for query forms, on a local site that remembers what it was asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.forms.record import FormRecord
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, redirect
from tests.servers import redis_server, redis_uri

__all__ = ["redis_server", "redis_uri"]

BOOKS = (
    '<form action="/find" method="{method}"><h2>Find a book</h2>Author <input name="author"> Title'
    ' <input name="title"> Year <select name="year"><option>1998<option>1999</select>'
    '<input type="submit" value="Search"></form>'
)
TYRES = (
    BOOKS.format(method="post").replace("book", "tyre").replace("Author", "Maker").replace("Title", "Width")
)
LOGIN = '<form action="/in" method="post">User <input name="user"> <input type="password" name="p"></form>'


def page(*links: tuple[str, str], extra: str = "") -> Reply:
    """A page with links as (path, anchor)."""
    anchors = "".join(f'<li><a href="{path}">{anchor}</a></li>' for path, anchor in links)
    return Reply(f"<title>t</title><h1>t</h1><ul>{anchors}</ul>{extra}".encode())


@pytest.fixture
def deepweb(crawl: Crawl) -> Crawl:
    return replace(crawl, spider="deepweb")


def forms(crawl: Crawl) -> list[FormRecord]:
    archive = Archive.open(ArchiveConfig(uri=crawl.uri))
    found = [FormRecord.read(kept.form) for kept in archive.forms.all()]
    archive.close()
    return found


def chain(site: MockServer, length: int, anchor: str) -> None:
    """Put a form as many links away from the front page."""
    for depth in range(length):
        site.routes["/" if not depth else f"/{depth}"] = page((f"/{depth + 1}", anchor))
    site.routes[f"/{length}"] = page(extra=BOOKS.format(method="get"))


@pytest.mark.parametrize(("depth", "found"), [(3, 1), pytest.param(4, 0, marks=pytest.mark.long)])
def test_forms_are_looked_for_three_links_deep(
    site: MockServer, deepweb: Crawl, depth: int, found: int
) -> None:
    chain(site, depth, "Search")
    assert deepweb(seeds=site.url()).code == 0
    assert len(forms(deepweb)) == found


def test_no_form_is_ever_submitted(site: MockServer, deepweb: Crawl) -> None:
    site.routes["/"] = page(("/b", "Books"), extra=BOOKS.format(method="get") + LOGIN)
    site.routes["/b"] = page(extra=BOOKS.format(method="post") + BOOKS.format(method="get"))
    assert deepweb(seeds=site.url()).code == 0
    assert sorted(site.paths()) == ["/", "/b"]
    assert [(record.method, record.decision.multi_field) for record in forms(deepweb)] == [
        ("get", True),
        ("post", True),
    ]


@pytest.mark.long
def test_a_form_on_many_pages_is_one_and_is_told_with_all_of_them(site: MockServer, deepweb: Crawl) -> None:
    site.routes["/"] = page(("/b", "Books"), ("/c", "Search"), extra=BOOKS.format(method="get"))
    site.routes["/b"] = site.routes["/c"] = page(extra=BOOKS.format(method="get"))
    for _ in range(2):
        assert deepweb(seeds=site.url()).code == 0
    archive = Archive.open(ArchiveConfig(uri=deepweb.uri))
    (kept,) = archive.forms.all()
    assert (kept.page, kept.pages) == (site.url(), 3)
    pages = archive.forms.pages(kept.site, kept.form.signature)
    assert [url for url, _, _ in pages] == [site.url(path) for path in ("/", "/b", "/c")]
    archive.close()


def test_a_link_that_promises_a_form_goes_first(site: MockServer, deepweb: Crawl) -> None:
    site.routes["/"] = page(("/a", "About"), ("/n", "News"), ("/x", "Advanced search"), ("/z", "高级搜索"))
    for path in ("/a", "/n", "/x", "/z"):
        site.routes[path] = page()
    assert deepweb("-sCONCURRENT_REQUESTS=1", seeds=site.url()).code == 0
    assert set(site.paths()[1:3]) == {"/x", "/z"}
    assert len(site.paths()) == 5


def test_in_strict_mode_a_link_must_promise_a_form(site: MockServer, deepweb: Crawl) -> None:
    site.routes["/"] = page(("/a", "About"), ("/bookfinder", "Books"), ("/x", "Search"))
    site.routes["/bookfinder"] = site.routes["/x"] = page()
    crawled = deepweb(seeds=site.url(), links="strict")
    assert crawled.code == 0
    assert sorted(site.paths()) == ["/", "/bookfinder", "/x"]
    assert crawled.stat("doors/dropped/no_search_word") == 1
    told = deepweb.ask("explain", site.url("/a"))
    assert (told["state"], told["reason"]) == ("rejected", "no_search_word")


def test_a_page_off_the_topic_leads_nowhere_and_its_forms_are_left_out(
    site: MockServer, deepweb: Crawl
) -> None:
    on = "<p>books authors novels library books and more books by all authors</p>"
    off = "<p>tyres, gears and engines for lorries, spare parts of all kinds</p>"
    site.routes["/"] = page(("/on", "Search"), ("/off", "Search"), extra=on)
    site.routes["/on"] = page(("/on2", "Search"), extra=on + BOOKS.format(method="get"))
    site.routes["/off"] = page(("/off2", "Search"), extra=off + TYRES)
    crawled = deepweb(seeds=site.url(), topic="books authors library")
    assert crawled.code == 0
    assert sorted(site.paths()) == ["/", "/off", "/on", "/on2"]
    assert [record.method for record in forms(deepweb)] == ["get"]
    assert crawled.of(site.url("/on"))["relevant"]
    assert not crawled.of(site.url("/off"))["relevant"]
    assert deepweb.ask("explain", site.url("/off"))["parts"]


def test_what_a_form_asks_for_tells_what_its_page_is_about(site: MockServer, deepweb: Crawl) -> None:
    site.routes["/"] = page(("/on", "Search"), ("/off", "Search"))
    site.routes["/on"] = page(extra=BOOKS.format(method="get"))
    site.routes["/off"] = page(extra=TYRES)
    assert deepweb(seeds=site.url(), topic="author title").code == 0
    assert [record.method for record in forms(deepweb)] == ["get"]


@pytest.mark.parametrize(("setting", "reason"), [("FORMS", "site_forms"), ("PAGES", "site_pages")])
def test_a_site_is_left_after_the_form_or_page_that_is_too_many(
    site: MockServer, deepweb: Crawl, setting: str, reason: str
) -> None:
    site.routes["/"] = page(*((f"/{n}", f"Search {n}") for n in range(9)))
    for n in range(9):
        site.routes[f"/{n}"] = page(extra=BOOKS.format(method="get").replace("/find", f"/find{n}"))
    options = ("-sCONCURRENT_REQUESTS=1", f"-sARCHIVE_SITE_{setting}=2")
    crawled = deepweb(*options, seeds=site.url())
    assert crawled.code == 0
    # The request that is under way when the last form is found is not taken back.
    fetched = len(site.paths())
    assert fetched in {"FORMS": (1 + 3, 1 + 3 + 1), "PAGES": (3,)}[setting]
    assert crawled.stat(f"guard/{reason}") == 10 - fetched


@pytest.mark.long
def test_what_an_interrupted_crawl_fetched_counts(site: MockServer, deepweb: Crawl) -> None:
    site.routes["/"] = page(*((f"/{n}", f"Search {n}") for n in range(9)))
    for n in range(9):
        site.routes[f"/{n}"] = page()
    options = ("-sCONCURRENT_REQUESTS=1", "-sARCHIVE_SITE_PAGES=5")
    assert deepweb(*options, seeds=site.url(), pages=3).code == 0
    assert deepweb(*options, seeds=site.url(), pages=30).code == 0
    assert len(site.paths()) == 6


@pytest.mark.long
def test_three_workers_give_one_record_for_each_form(
    site: MockServer, deepweb: Crawl, redis_uri: str
) -> None:
    site.routes["/"] = page(*((f"/{n}", f"Search {n}") for n in range(12)))
    for n in range(12):
        other = BOOKS.format(method="get").replace("/find", f"/find{n % 3}")
        site.routes[f"/{n}"] = replace(page(extra=other), delay=0.1)
    options = ("-s", f"REDIS_URL={redis_uri}", "-s", "ARCHIVE_LOCAL_CONCURRENCY=3")
    workers = [deepweb.start(*options, "-s", "CONCURRENT_REQUESTS=1", seeds=site.url()) for _ in range(3)]
    for worker in workers:  # all three write one feed, which is not looked at
        worker.communicate(timeout=60)
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    assert sorted(record.action for record in forms(deepweb)) == [site.url(f"/find{n}") for n in range(3)]
    assert len(site.paths()) == len(set(site.paths())) == 13


def test_a_search_for_forms_says_how_many_it_met_and_how_to_see_them(
    site: MockServer, deepweb: Crawl
) -> None:
    site.routes["/"] = page(extra=BOOKS.format(method="get"))
    crawled = deepweb(seeds=site.url())
    assert "; query forms: 1" in crawled.log
    assert f"scrapy forms -s ARCHIVE_URI={deepweb.uri}" in crawled.log


@pytest.mark.long
def test_what_an_interrupted_crawl_found_counts(site: MockServer, deepweb: Crawl) -> None:
    site.routes["/"] = page(*((f"/{n}", f"Search {n}") for n in range(9)))
    for n in range(9):
        site.routes[f"/{n}"] = page(extra=BOOKS.format(method="get").replace("/find", f"/find{n}"))
    options = ("-sCONCURRENT_REQUESTS=1", "-sARCHIVE_SITE_FORMS=2")
    assert deepweb(*options, seeds=site.url(), pages=4).code == 0
    assert len(forms(deepweb)) == 3
    asked = len(site.paths())
    assert deepweb(*options, seeds=site.url(), pages=30).stat("guard/site_forms") == 10 - asked
    assert len(site.paths()) == asked


def test_a_wrong_rule_for_links_is_refused(site: MockServer, deepweb: Crawl) -> None:
    crawled = deepweb(seeds=site.url(), links="strong")
    assert crawled.code == 2
    assert "links is 'strong': give one of rank, strict" in crawled.log


@pytest.mark.long
def test_what_is_learnt_moves_links_of_the_kind_that_led_to_forms(site: MockServer, deepweb: Crawl) -> None:
    kinds = {"/shelf/": BOOKS.format(method="get"), "/staff/": ""}
    links = [(f"{folder}{n}", f"Item {n}") for n in range(30) for folder in kinds]
    site.routes["/"] = page(*links)
    for path, _ in links:
        folder = path[:7]
        site.routes[path] = page(extra=kinds[folder].replace("/find", path))
    assert deepweb("-sCONCURRENT_REQUESTS=1", "-sARCHIVE_SITE_FORMS=99", seeds=site.url()).code == 0
    asked = site.paths()[1:]
    late = [path.startswith("/shelf/") for path in asked[10:30]]
    assert sum(late) >= 16


@pytest.mark.long
def test_a_seed_that_redirects_leads_on_whatever_its_page_is_about(site: MockServer, deepweb: Crawl) -> None:
    site.routes["/"] = redirect("/home")
    site.routes["/home"] = page(("/x", "Search"), extra="<p>tyres, gears and engines for lorries</p>")
    site.routes["/x"] = page(extra="<p>books authors library</p>" + BOOKS.format(method="get"))
    assert deepweb(seeds=site.url(), topic="books authors library").code == 0
    assert len(forms(deepweb)) == 1


def test_a_form_on_two_ports_of_a_host_is_two_forms(site: MockServer, deepweb: Crawl) -> None:
    site.routes["/"] = page(extra=BOOKS.format(method="get"))
    with MockServer(routes=dict(site.routes)) as other:
        assert deepweb("-sARCHIVE_SITE_FORMS=1", seeds=f"{site.url()},{other.url()}").code == 0
        known = {form["site"]: form["action"] for form in deepweb.ask("forms")}
        assert known == {f"127.0.0.1:{each.port}": each.url("/find") for each in (site, other)}
        assert deepweb.ask("forms", "--scan") == deepweb.ask("forms")
        (form,) = deepweb.ask("forms", "--site", site.url())
    (deepweb.folder / "grid.csv").write_text("author\nLee\n", "utf-8")
    asking = replace(deepweb, spider="query")
    assert asking(form=form["id"], values=f"@{deepweb.folder}/grid.csv").code == 0
    assert site.paths()[1:] == ["/find?author=Lee&title=&year=1998"]
