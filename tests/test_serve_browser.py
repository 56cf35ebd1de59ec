"""Every page of the interface in a browser, narrow and wide, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from archivebot.models import Headers
from tests.browsed import PHRASE, Sample, browser, sample
from tests.factories import URL, html, make_page
from tests.served import Served, archived, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NARROW, WIDE = 320, 1280
DONE = {"missing": 404, "error": 404}

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return sample(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def server(archive: Sample) -> Iterator[Served]:
    with serving(archive.uri) as served:
        yield served


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def addresses(archive: Sample, server: Served) -> dict[str, str]:
    block, *_ = re.findall(r"lineage=([\w-]+)", server.get(archive.pages("")["delta"]).text)
    return archive.pages(block)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_axe_finds_nothing(
    server: Served, chromium: Browser, addresses: dict[str, str], width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe: pip install .[dev]")
    context = chromium.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
        bypass_csp=True,  # or axe cannot be put into the page
    )
    page, found = context.new_page(), []
    for name, address in addresses.items():
        answer = page.goto(server.host + address)
        assert answer is not None
        assert answer.status == DONE.get(name, 200), (name, page.inner_text("main"))
        result = axe.Axe().run(page, options={"iframes": False})
        assert len(result.response["passes"]) > 10, name
        found += [
            (name, each["id"], node["html"][:120])
            for each in result.response["violations"]
            for node in each["nodes"]
        ]
    context.close()
    assert found == []


def test_pages_fit_any_screen_need_no_script_and_ask_nothing_of_others(
    server: Served, chromium: Browser, addresses: dict[str, str]
) -> None:
    titles = set()
    for width in (NARROW, WIDE):
        context = chromium.new_context(viewport={"width": width, "height": 800}, java_script_enabled=False)
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        for name, address in addresses.items():
            page.goto(server.host + address)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            assert page.locator("h1").count() == 1, name
            assert page.locator("html[lang=en]").count() == 1
            titles.add(page.title())
        context.close()
        assert [each for each in asked if not each.startswith(server.address)] == []
    assert len(titles) > len(addresses) - 5  # views of the same list share a title


@pytest.mark.parametrize("name", ["changes", "page", "events", "pages"])
def test_a_date_is_on_one_line_on_a_narrow_screen(
    server: Served, chromium: Browser, addresses: dict[str, str], name: str
) -> None:
    page = chromium.new_page(viewport={"width": NARROW, "height": 800})
    page.goto(server.host + addresses[name])
    height, line = page.locator(".wide time").first.evaluate(
        "each => [each.getBoundingClientRect().height, parseFloat(getComputedStyle(each).lineHeight)]"
    )
    assert height < 2.5 * line  # the date, and the time of day
    page.close()


@pytest.mark.parametrize("name", ["frontier", "duplicates"])
def test_a_field_for_a_url_is_wide_enough_for_one(
    server: Served, chromium: Browser, addresses: dict[str, str], name: str
) -> None:
    page = chromium.new_page(viewport={"width": WIDE, "height": 800})
    page.goto(server.host + addresses[name])
    box = page.locator(".filters input[name=url]").bounding_box()
    assert box is not None
    assert box["width"] > 500
    page.close()


def test_the_zone_of_times_is_told(server: Served, chromium: Browser, addresses: dict[str, str]) -> None:
    page = chromium.new_page()
    for address in addresses.values():
        page.goto(server.host + address)
        assert page.get_by_role("contentinfo").inner_text() == "Times are in UTC."
    page.close()


def test_one_walks_from_the_start_to_a_block_by_keyboard(
    archive: Sample, server: Served, chromium: Browser
) -> None:
    page = chromium.new_page()
    page.goto(server.address)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")
    followed = (
        (archive.url.split("/")[2], "/site?"),
        (archive.url, "/page?"),
        ("Last change", "/delta?"),
        ("News", "/block?"),
    )
    for name, path in followed:
        link = page.locator("main").get_by_role("link", name=name, exact=True).first
        link.focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"**{path}*")
    assert "bicycle repair kit" in page.locator("ins").all_inner_texts()[-1]
    page.close()


def test_the_changed_block_is_highlighted_in_the_replayed_page(
    server: Served, chromium: Browser, addresses: dict[str, str]
) -> None:
    page = chromium.new_page()
    page.goto(server.host + addresses["delta"], wait_until="networkidle")
    _, before, after = page.frames
    assert "bicycle" not in before.inner_text("[data-archivebot-change=modified] >> nth=0")
    block = after.locator("[data-archivebot-change=modified]").first
    assert "Borrow a bicycle repair kit" in block.inner_text()
    assert block.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    page.close()


def test_the_changed_block_is_highlighted_in_a_page_in_xhtml(tmp_path: Path, chromium: Browser) -> None:
    markup = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body><p>{}</p></body></html>"
    pages = [
        make_page(markup.format(words).encode(), day, headers=XHTML)
        for day, words in enumerate(("on Monday at nine", "on Friday at nine"))
    ]
    with serving(archived(f"sqlite:///{tmp_path}/a.db", pages)) as server, chromium.new_page() as page:
        page.goto(f"{server.host}/marked?url={URL}&side=after")
        block = page.locator("[data-archivebot-change=modified]")
        assert block.inner_text() == "on Friday at nine"
        assert block.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"


def test_a_replayed_page_looks_like_the_live_page(archive: Sample, server: Served, chromium: Browser) -> None:
    from archivebot.sample.server import SampleSite

    page = chromium.new_page(viewport={"width": WIDE, "height": 800})
    with SampleSite(int(archive.url.rstrip("/").rpartition(":")[2]), "second").running() as site:
        for path in ("", "events.html", "hours.html"):
            page.goto(site.url + path, wait_until="networkidle")
            live = page.screenshot()
            page.goto(f"{server.host}/web/2099if_/{site.url}{path}", wait_until="networkidle")
            assert page.screenshot() == live, path
    page.close()


# Pages that a browser shows, each with what it shows of them: words, and their colour.
HTML = (("Content-Type", "text/html"),)
XHTML = (("Content-Type", "application/xhtml+xml"),)
IN_XHTML = (
    "<html xmlns='http://www.w3.org/1999/xhtml'><body><p style='color:red'>some&nbsp;words</p></body></html>"
)
SHOWN = [
    (IN_XHTML, XHTML),
    ("<style><!--\np { color: red }\n--></style><p>some words", HTML),
    (f"<link rel='preload stylesheet' as=style href={URL}/s.css><p>some words", HTML),
]


@pytest.mark.parametrize(("markup", "headers"), SHOWN)
def test_words_are_shown_with_their_colour(
    tmp_path: Path, chromium: Browser, markup: str, headers: Headers
) -> None:
    sheet = make_page(b"p { color: red }", url=f"{URL}/s.css", headers=(("Content-Type", "text/css"),))
    pages = [sheet, make_page(markup.encode(), headers=headers)]
    with serving(archived(f"sqlite:///{tmp_path}/a.db", pages)) as server, chromium.new_page() as page:
        page.goto(f"{server.host}/web/2026/{URL}")
        words = page.locator("p")
        assert words.inner_text(timeout=5_000).replace("\xa0", " ") == "some words"
        assert words.evaluate("each => getComputedStyle(each).color") == "rgb(255, 0, 0)"


# Where a browser draws the character at an offset from the end of a text.
DRAWN = """(element, at) => {
  const text = element.lastChild, range = document.createRange()
  range.setStart(text, text.length + at)
  range.setEnd(text, text.length + at + 1)
  return range.getBoundingClientRect().x
}"""


def test_arabic_text_keeps_its_direction_and_the_words_around_it_theirs(
    tmp_path: Path, chromium: Browser
) -> None:
    pages = [make_page(html(f"في {day} كتب."), index) for index, day in enumerate(("الميناء", "البحر"))]
    with serving(archived(f"sqlite:///{tmp_path}/a.db", pages)) as server, chromium.new_page() as page:
        page.goto(f"{server.host}/version?url={URL}")
        words = page.locator(".text").first
        assert words.inner_text().endswith(".")
        assert words.evaluate(DRAWN, -1) < words.evaluate(DRAWN, -2)
        page.goto(f"{server.host}/delta?url={URL}")
        lead = page.locator(".lead")
        count, *_ = re.findall(r"\d+ blocks? changed.*", lead.inner_text())
        reason = lead.locator("bdi").bounding_box()
        assert reason is not None
        assert lead.evaluate(DRAWN, -len(count) - 1) >= reason["x"] + reason["width"]


def test_a_phrase_that_was_removed_is_searched_from_the_start(
    archive: Sample, server: Served, chromium: Browser
) -> None:
    page = chromium.new_page()
    page.goto(server.address)
    page.get_by_label("Words on any page").fill(f'"{PHRASE}"')
    page.keyboard.press("Enter")
    page.get_by_label("Change").select_option("removed")
    page.get_by_role("main").get_by_role("button", name="Search").click()
    assert page.locator(".change").all_inner_texts() == ["removed"]
    assert "".join(page.locator("mark").all_inner_texts()) == PHRASE
    page.get_by_role("link", name="what changed in version 2").click()
    assert "/delta?" in page.url
    page.close()


def test_the_numbers_of_a_plot_lead_to_the_pages(server: Served, addresses: dict[str, str]) -> None:
    shown = server.get(addresses["site"]).text
    assert '<rect class="new"' in shown
    (removed,) = re.findall(r'<a href="(/events[^"]*removed[^"]*)">2</a>', shown)
    answer = server.get(removed.replace("&amp;", "&")).text
    assert answer.count('<span class="kind removed">') == 2
    assert "summer-fete.html" in answer


def test_the_course_of_a_focused_crawl_is_drawn_and_told(server: Served, addresses: dict[str, str]) -> None:
    shown = server.get(addresses["topic"]).text
    assert "110 of 150 pages on topic" in re.sub(r"\s+", " ", shown)
    assert shown.count("<polyline") == 3
    assert '<td class="n">150</td><td class="n">110</td><td class="n">73%</td>' in shown


def test_the_crawl_says_what_it_refused(server: Served, addresses: dict[str, str]) -> None:
    assert "Nothing was rejected." in server.get(addresses["frontier"]).text
    assert "off topic" in server.get(addresses["frontier-rejected"]).text
    shown = server.get(addresses["frontier"]).text
    assert "<dt>seeds</dt>" in shown
    assert "<dd>None</dd>" not in shown
    explained = server.get(addresses["explain"]).text
    assert "The way from a seed" in explained
    assert ">The crawl site-" in explained


def test_near_duplicates_and_forms_are_listed(server: Served, addresses: dict[str, str]) -> None:
    assert "http://other.example/two" in server.get(addresses["duplicates"]).text
    assert "http://one.example/" in server.get(addresses["duplicates-of"]).text
    assert "<strong>Subject</strong>" in server.get(addresses["forms"]).text
