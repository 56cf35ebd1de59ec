"""A real browser lays pages out: geometry, look, and neither scripts nor network."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator

import pytest

from archivebot.exceptions import UsageError
from archivebot.vision import render
from archivebot.vision.block import Box
from archivebot.vision.node import Node
from archivebot.vision.render import BROWSERS, Browser, tree
from archivebot.vision.vips import segment
from tests.mockserver import MockServer, Reply

pytestmark = pytest.mark.long

PAGE = """<!DOCTYPE html><body style="margin: 0; width: 1000px">
<header style="background: #eee; height: 60px">Bay News</header>
<nav style="float: left; width: 180px"><ul><li>Home<li>Sea</ul></nav>
<main style="margin-left: 200px"><h2>The ferry</h2><p>It crosses the <b>bay</b> all year.</p></main>
<hr style="clear: both"><footer style="margin-top: 50px">Quay Street</footer>
<p style="display: none">Hidden</p><p style="visibility: hidden">Unseen</p><p hidden>Gone</p>
<div style="overflow: hidden; height: 0">Cut</div><div style="position: absolute; left: -999px">Aside</div>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("no Playwright: pip install playwright")
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser: install it with apt-get install chromium")
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def page(browser: Browser) -> Node:
    return shown(browser, PAGE)


def shown(browser: Browser, markup: str) -> Node:
    node = browser.render(markup)
    assert node is not None
    return node


def find(root: Node, tag: str) -> Node:
    return next(node for node in root.walk() if node.tag == tag)


def test_nodes_have_their_places_and_looks(page: Node) -> None:
    root = page
    header, bold, heading = (find(root, tag) for tag in ("header", "b", "h2"))
    assert header.box == Box(0, 0, 1000, 60)
    assert header.path == "/html[1]/body[1]/header[1]"
    assert header.background != root.background == find(root, "main").background
    assert find(root, "nav").box.right <= find(root, "main").box.left
    assert bold.is_text
    assert bold.children[0].font.weight > find(root, "p").children[0].font.weight
    assert heading.children[0].font.size > bold.children[0].font.size
    assert not heading.inline
    assert [text.text for text in root.texts()] == [
        *("Bay News", "Home", "Sea", "The ferry", "It crosses the", "bay", "all year.", "Quay Street")
    ]


def test_an_element_is_around_all_that_it_shows(page: Node) -> None:
    for node in page.walk():
        assert all(node.box.holds(child.box) for child in node.children)


def test_the_blocks_of_a_page_are_those_a_reader_sees(page: Node) -> None:
    whole = segment(page, 7)
    texts = [leaf.text for leaf in whole.leaves()]
    assert texts == ["Bay News", "Home Sea", "The ferry It crosses the bay all year.", "Quay Street"]
    (drawn,) = [each for block in whole.walk() for each in block.separators if each.explicit]
    assert drawn.weight == 9
    assert len({leaf.path for leaf in whole.leaves()}) == len(texts)


def test_two_captures_of_a_page_have_blocks_of_the_same_paths(browser: Browser, page: Node) -> None:
    later = shown(browser, PAGE.replace("all year", "daily").replace("<li>Sea", "<li>Sea<li>Sky"))
    before, after = ([leaf.path for leaf in segment(each, 7).leaves()] for each in (page, later))
    assert before == after


def test_scripts_of_the_page_do_not_run(browser: Browser) -> None:
    root = shown(browser, "<p>Before<script>document.body.textContent = 'ran'</script><p onclick=x>After")
    assert [text.text for text in root.texts()] == ["Before", "After"]


def test_nothing_is_fetched(browser: Browser) -> None:
    with MockServer({"/": Reply(body=b"x")}) as server:
        url = server.url()
        shown(
            browser,
            f"""<meta http-equiv=refresh content="0;url={url}"><link rel=stylesheet href="{url}s.css">
            <link rel=preconnect href="{url}"><p>Text<img src="{url}i.png" width=9 height=9>
            <iframe src="{url}"></iframe><object data="{url}"></object>""",
        )
        assert server.asked == []


def test_a_text_is_shown_whatever_charset_it_declares(browser: Browser) -> None:
    root = browser.render("<meta charset=koi8-r><p>Grüße")
    assert root is not None
    assert [text.text for text in root.texts()] == ["Grüße"]


@pytest.mark.parametrize("markup", ["", "<p hidden>x", "<frameset><frame></frameset>"])
def test_a_page_that_shows_nothing_is_none(browser: Browser, markup: str) -> None:
    assert browser.render(markup) is None


def test_a_page_of_many_or_deep_elements_is_cut(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "MOST_NODES", 600)
    assert sum(1 for _ in shown(browser, "<p>x" * 700).walk()) in (599, 600)
    monkeypatch.undo()
    deep = shown(browser, "<div>" * 600 + "deep")
    assert [leaf.text for leaf in segment(deep, 10).leaves()] == ["deep"]


def test_missing_parts_are_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(UsageError, match=r"pip install playwright"), Browser():
        pass


def test_a_missing_browser_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("playwright", reason="no Playwright: pip install playwright")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="apt-get install chromium"), Browser():
        pass


def test_what_lies_behind_shines_through() -> None:
    records = [
        {"up": -1, "tag": "body", "box": [0, 0, 90, 90], "path": "/b", "background": "rgb(1, 1, 1)"},
        {"up": 0, "tag": "p", "box": [0, 0, 90, 50], "path": "/b/p", "background": "rgba(0, 0, 0, 0)"},
        {"up": 1, "tag": "", "box": [5, 5, 30, 20], "path": "/b/p/text()", "text": "x"},
        {"up": 0, "tag": "div", "box": [0, 50, 90, 90], "path": "/b/div", "background": "rgba(0, 0, 0, 0)"},
    ]
    root = tree(records)
    assert root is not None
    assert root.box == Box(0, 0, 90, 90)  # it has a colour of its own
    (paragraph,) = root.children  # an empty element shows nothing
    assert paragraph.background == "rgb(1, 1, 1)"
    assert paragraph.box == Box(5, 5, 30, 20)


def test_a_shadow_root_is_laid_out_with_what_its_slots_were_given(browser: Browser) -> None:
    root = "Free <h2>Lamps</h2><slot>None</slot><slot name=foot><i>No foot</i></slot>"
    markup = f"<a-shop><template shadowrootmode=open>{root}</template>Two <b>lamps</b></a-shop>"
    found = [node.text for node in shown(browser, markup).walk() if node.text]
    assert found == ["Free", "Lamps", "Two", "lamps", "No foot"]
