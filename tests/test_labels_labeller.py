"""Labels of blocks: each kind from the feature that tells it, on pages cut as the archive cuts them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from archivebot.labels.labeller import Labelled, label_blocks
from archivebot.models import Block, Label
from archivebot.segmentation.segmenter import partition

PROSE = "A sentence that somebody wrote for others to read, and not to choose from. " * 12
LINKS = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in ("home", "news", "about us", "people"))
TITLES = "".join(
    f"<li><a href=/{n}>The {n}th story of the year, in a title of some length</a></li>" for n in range(5)
)


def labels_of(page: str, piece: str, repeats: float | None = None) -> Labelled:
    """Label the one piece of a page."""
    body = page.encode()
    start = body.index(piece.encode())
    block = Block(start, start + len(piece.encode()), 1)
    known = None if repeats is None else {block: repeats}
    return label_blocks(body, [block], repeats=known)[0]


@pytest.mark.parametrize(
    ("piece", "label", "reason"),
    [
        (f"<nav>{LINKS}</nav>", "navigation", "element nav"),
        (f"<div role=navigation>{PROSE}</div>", "navigation", "role navigation"),
        ("<div role=search><p>Search</p></div>", "form", "role search"),
        ("<div class=siteHeader>The name</div>", "header", "class siteHeader"),
        ("<div id=ad-box><p>Buy</p></div>", "advert", "id ad-box"),
        ("<div><iframe src=//ad.doubleclick.net/x></iframe></div>", "advert", "from doubleclick"),
        ("<div class='post comments2'><p>First!</p></div>", "comment", "class comments2"),
        (f"<div class=related-posts><ul>{TITLES}</ul></div>", "related", "class related-posts"),
        (f"<ul>{LINKS}</ul>", "navigation", "no other text, 5 letters a link"),
        (f"<ul>{TITLES}</ul>", "list", "no other text, 41 letters a link"),
        ("<ul><li>One thing</li><li>Another thing</li></ul>", "list", "list holds 20 of 20 letters"),
        ("<form>Your name <input name=n> <textarea></textarea></form>", "form", "controls 2, letters 8"),
        ("<table>" + "<tr><td>1<td>2</tr>" * 3 + "</table>", "table", "regular rows 3"),
        ("<p><img src=a.png> A view</p>", "media", "pictures 1, letters 5"),
        (f"<p>{PROSE}</p>", "main", "text 732 letters, link density 0.000"),
    ],
)
def test_the_deciding_feature_is_the_reason(piece: str, label: str, reason: str) -> None:
    page = f"<html><body><div><p>{PROSE}</p><div>{PROSE}</div></div>{piece}<div>{PROSE}</div></body></html>"
    found = labels_of(page, piece)
    assert (found.label, found.reason) == (label, reason)


def test_a_table_that_arranges_a_page_is_none() -> None:
    cell = f"<td><p>{PROSE}</p></td>"
    table = f"<table><tr>{cell}{cell}</tr></table>"
    assert labels_of(f"<p>{PROSE}</p>{table}<p>{PROSE}</p>", table).label == Label.MAIN


def test_a_row_cut_out_of_a_data_table_is_data() -> None:
    rows = [f"<tr><td>{n}</td><td>{PROSE}</td></tr>" for n in range(4)]
    found = labels_of(f"<p>{PROSE}</p><table>{''.join(rows)}</table>", rows[2])
    assert (found.label, found.reason) == (Label.TABLE, "in a table of 4 regular rows")


def test_the_header_of_an_article_is_not_that_of_the_page() -> None:
    piece = "<header><h2>How it came about</h2></header>"
    inside = f"<p>{PROSE}</p><article>{piece}<p>{PROSE}</p></article><p>{PROSE}</p>"
    assert labels_of(inside, piece).label == Label.MAIN
    assert labels_of(f"{piece}<p>{PROSE}</p>", piece).reason == "element header"


def test_a_wrapper_around_everything_says_nothing() -> None:
    piece = f"<p>{PROSE}</p>"
    wrapped = f"<form id=header-layout><p>Begin</p><div>{piece}<p>{PROSE}</p></div></form>"
    assert labels_of(wrapped, piece).label == Label.MAIN


def test_prose_is_no_menu_whatever_its_class_says() -> None:
    prose, menu = f"<div class=tabs-menu>{PROSE}</div>", f"<div class=tabs-menu>{LINKS}</div>"
    page = f"<p>{PROSE}</p>{prose}{menu}<p>{PROSE}</p>"
    assert labels_of(page, prose).label == Label.MAIN
    assert labels_of(page, menu).reason == "class tabs-menu"


def test_what_holds_most_of_the_page_is_its_content_even_as_links() -> None:
    links = f"<div id=links><ul>{TITLES * 5}</ul></div>"
    assert labels_of(f"<div>Head</div>{links}", links).reason == "holds 1.00 of the page's letters"


def test_the_end_of_the_main_element_is_no_foot() -> None:
    last = "<p>And so it ended, as such things do.</p>"
    assert labels_of(f"<p>{PROSE}</p><div><p>{PROSE}</p>{last}</div>", last).label == Label.FOOTER
    assert labels_of(f"<p>{PROSE}</p><article><p>{PROSE}</p>{last}</article>", last).label == Label.MAIN


def test_the_last_line_with_the_rights_is_the_foot_and_the_first_line_the_head() -> None:
    foot, head = "<div>© 2024 The people</div>", "<div>The name of the site</div>"
    page = f"{head}<p>{PROSE}</p><p>{PROSE}</p>{foot}"
    assert labels_of(page, foot).reason == "names the rights near the end of the page"
    summer = "<div>Fin de l'été</div>"  # its last letter ends in the byte that is © elsewhere
    assert labels_of(f"<p>{PROSE}</p>{summer}", summer).reason == "ends at 1.00 of the page's letters"
    assert labels_of(page, head).reason == "starts at 0.00 of the page's letters"


@pytest.mark.parametrize("more", ["", "<span># Copyright 2024 The people</span>\n"])
def test_code_at_the_end_of_a_page_is_no_foot(more: str) -> None:
    code = f"<div class=highlight><pre>{more}print('done')</pre></div>"
    assert labels_of(f"<p>{PROSE}</p><p>{PROSE}</p>{code}", code).label == Label.MAIN
    lines = "<div>two</div>"
    assert (
        labels_of(f"<p>{PROSE}</p><p>{PROSE}</p><pre><div>one</div>{lines}</pre>", lines).label == Label.MAIN
    )


@pytest.mark.parametrize(
    ("repeats", "label"), [(None, "main"), (0.4, "main"), (0.5, "footer"), (1.0, "footer")]
)
def test_what_repeats_on_the_site_is_furniture(repeats: float | None, label: str) -> None:
    piece = "<div>We deliver on all days of the week, whatever the weather may be.</div>"
    page = f"<p>{PROSE}</p><p>{PROSE}</p>{piece}<p>{PROSE[:200]}</p>"
    assert labels_of(page, piece, repeats).label == label


@pytest.mark.parametrize("level", [1, 2, 3, 4])
@pytest.mark.parametrize("charset", ["utf-8", "utf-16"])
def test_every_block_of_a_partition_gets_a_label_and_a_reason(level: int, charset: str) -> None:
    page = f"<div><nav><ul>{LINKS}</ul></nav><div><p>{PROSE}<p>{PROSE}<br>x</div><footer>end</footer></div>"
    body = page.encode(charset)
    blocks = partition(body, level, f"text/html; charset={charset}").blocks
    found = label_blocks(body, blocks, f"text/html; charset={charset}")
    assert tuple(one.block for one in found) == blocks
    assert found[0].label == Label.NAVIGATION
    assert found[-1].label == Label.FOOTER
    assert all(one.reason for one in found)


def test_what_is_no_markup_is_main() -> None:
    found = label_blocks(b"%PDF-1.7", [Block(0, 8, 1)], "application/pdf")
    assert [(one.label, one.reason) for one in found] == [(Label.MAIN, "no markup")]


def test_nested_blocks_are_never_counted_twice() -> None:
    body = f"<div>a<div>b<table><tr><td>c<div>d</div></table></div>e</div><div>{PROSE}</div>".encode()
    for level in (1, 2, 3, 4):
        blocks = partition(body, level).blocks
        assert all(one.end <= two.start for one, two in pairwise(blocks))
        assert blocks == partition(body, level).blocks


@pytest.mark.parametrize(
    ("address", "label"),
    [
        ("//AD.DoubleClick.net/x", "advert"),
        ("//a.example/adserver.js", "advert"),
        ("//a.example/?taboola", "media"),
        ("//a.example/.adforms", "media"),
    ],
)
def test_an_advertiser_is_a_whole_name_in_an_address(address: str, label: str) -> None:
    piece = f"<div><iframe src={address}></iframe></div>"
    page = f"<p>{PROSE}</p><div>{PROSE}</div>{piece}<div>{PROSE}</div>"
    assert str(labels_of(page, piece).label) == label
