"""Declarative shadow roots: what a browser shows of them is crawled, cut, searched and compared."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.markup.dom import visible_text
from archivebot.markup.page import ParsedPage
from archivebot.markup.shadow import parse
from archivebot.replay.marks import STYLE, Mark, marked
from archivebot.segmentation.segmenter import cut_page, partition
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html
from tests.test_segmentation_segmenter import assert_partition

ROOT = "<template shadowrootmode=open>"


def body(found: str) -> str:
    return found.removeprefix("<html><head></head><body>").removesuffix("</body></html>")


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"<a-b>{ROOT}<i>One</i></template><b>two</b></a-b>", "<a-b><i>One</i> <b>two</b></a-b>"),
        ("<p><template shadowrootmode=Closed>One</template></p>", "<p>One </p>"),
        (f"<a-b>{ROOT}<slot></slot></template>one</a-b>!", "<a-b><slot></slot>one</a-b>!"),
        (f"<a-b>{ROOT}<style>i{{}}</style></template>one</a-b>", "<a-b><style>i{}</style>one</a-b>"),
        (f"<div>{ROOT}<a-b>{ROOT}One</template></a-b></template>", "<div><a-b>One </a-b></div>"),
        (f"<a-b>{ROOT}One</template>{ROOT}two</template></a-b>", "<a-b>One {}two</template></a-b>"),
        (f"<a-b>{ROOT}{ROOT}One</template></template></a-b>", "<a-b>{}One</template></a-b>"),
        (f"<ul>{ROOT}One</template></ul>", "<ul>{}One</template></ul>"),
        ("<a-b><template shadowrootmode=x>One</template></a-b>",) * 2,
        ("<a-b><template>One</template></a-b>",) * 2,
        (f"<p>a<a-b>{ROOT}<p>One<p>two</template></a-b>b", "<p>a<a-b><p>One</p><p>two</p> </a-b>b</p>"),
    ],
)
def test_a_shadow_root_is_opened_where_a_browser_has_one(markup: str, expected: str) -> None:
    found = body(parse(markup).html).replace('"', "")
    assert found == expected.replace("{}One", f"{ROOT}One").replace("{}two", f"{ROOT}two")


@given(st.lists(st.sampled_from((ROOT, "</template>", "<a-b>", "</a-b>", "<p>", "<template>", "é ", "<td>"))))
def test_any_page_with_shadow_roots_is_cut_into_its_bytes(parts: list[str]) -> None:
    page = "".join(parts).encode()
    for level in (1, 3, 9):
        for charset in ("utf-8", "utf-16-le"):
            text = page.decode().encode(charset)
            assert_partition(text, cut_page(ParsedPage(text, charset), level).blocks)


@pytest.mark.parametrize("markup", [f"<div>{ROOT}x", f"<div>{ROOT}x</template>"])
def test_many_shadow_roots_take_time_that_grows_with_the_page(markup: str) -> None:
    start = time.perf_counter()
    parse(markup * 20_000)
    assert time.perf_counter() - start < 5


def test_a_block_that_begins_with_a_shadow_root_has_its_text() -> None:
    assert visible_text(f" {ROOT}One <b>two</b>".encode(), "utf-8") == "One two"
    assert visible_text(b"One</template> two", "utf-8") == "One two"


def test_a_changed_block_in_a_shadow_root_is_marked_with_a_style_that_applies_there() -> None:
    page = f"<a-b>{ROOT}<p>One</p></template></a-b>".encode()
    start = page.index(b"<p>")
    mark = b'<p data-archivebot-change="added" id="archivebot-1">'
    expected = page.replace(b"<p>", STYLE.encode() + mark)
    assert marked(page, [Mark(start, start + 10, "added")]) == expected
    assert marked(page, []) == page


def component(price: int) -> Reply:
    """A page drawn by a component, whose slot has a paragraph."""
    return html(
        text=f"<shop-item>{ROOT}<style>p {{ color: red }}</style><h2>Lighthouse lamp</h2>"
        f"<p>The lamp costs {price} pounds in the harbour shop, with a spare wick and a tin of oil.</p>"
        "<a href=/wick>Spare wicks</a><slot></slot></template>"
        "<p>Visitors say that the lamp burns for three nights and smells of the sea.</p></shop-item>"
        "<template><p>Nobody sees this</p><a href=/unseen>nor this</a></template>"
    )


@pytest.mark.long
def test_a_component_is_crawled_cut_compared_and_searched(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": component(40), "/wick": html(text="<p>Wicks of cotton")}
    assert crawl(seeds=site.url()).code == 0
    assert "/wick" in site.paths()
    assert "/unseen" not in site.paths()
    site.routes["/"] = component(45)
    assert crawl(seeds=site.url()).code == 0
    text = crawl.ask("text", site.url())["text"]
    assert "The lamp costs 45 pounds" in text
    assert "burns for three nights" in text
    changes = crawl.ask("delta", site.url())["changes"]
    edited = [each for each in changes if each["change"] != "UNCHANGED"]
    assert [each["change"] for each in edited] == ["MODIFIED"]
    assert edited[0]["before"].startswith("The lamp costs 40 pounds")
    history = run_scrapy(("history", site.url(), "--block", edited[0]["lineage"]), environment=place(crawl))
    assert "40 pounds" in history.stdout
    assert "45 pounds" in history.stdout
    assert run_scrapy(("index",), environment=place(crawl)).returncode == 0
    assert [each["url"] for each in crawl.ask("search", "spare wick tin")] == [site.url()]
    assert run_scrapy(("search", "nobody sees"), environment=place(crawl)).returncode == 1


def place(crawl: Crawl) -> dict[str, str]:
    return {**os.environ, "ARCHIVE_URI": crawl.uri}


def test_the_blocks_of_a_component_are_those_of_its_elements() -> None:
    page = component(40).body
    found = [visible_text(page[block.start : block.end], "utf-8") for block in partition(page, 3).blocks]
    assert found[:2] == ["t", "Lighthouse lamp"]
    assert found[2].startswith("The lamp costs")
    assert found[3] == "Spare wicks"
    assert found[4].startswith("Visitors say")
