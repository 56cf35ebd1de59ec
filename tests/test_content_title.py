"""The title of a page."""

from __future__ import annotations

from turbohtml import parse

from archivebot.content.lines import LineWalk
from archivebot.content.title import title

BODY = "<p>The partition of a page into blocks is the first thing that an archive of blocks does with it.</p>"


def of(markup: str) -> str:
    document = parse(markup)
    lines = LineWalk(document).lines
    return title(document, lines, [True] * len(lines))


def test_the_heading_above_the_text_is_the_title() -> None:
    assert (
        of(f"<title>Blocks | Example</title><h1>Blocks of a page</h1>{BODY}<h1>Blocks, related</h1>")
        == "Blocks of a page"
    )


def test_the_name_of_the_site_is_none_however_large() -> None:
    assert (
        of(f"<title>How blocks are cut - Example News</title><h1>Example News</h1>{BODY}")
        == "How blocks are cut"
    )


def test_a_heading_that_the_metadata_do_not_bear_out_is_none() -> None:
    assert of(f"<title>Standing desks</title><h1>Your cart is empty</h1>{BODY}") == "Standing desks"


def test_a_heading_goes_on_where_the_title_element_does() -> None:
    assert of(f"<title>Block storage: a survey</title><h1>Block storage:</h1><h1>a survey</h1>{BODY}") == (
        "Block storage: a survey"
    )


def test_a_page_without_metadata_has_its_heading_and_one_without_either_none() -> None:
    assert of(f"<h1>Blocks</h1>{BODY}") == "Blocks"
    assert of(BODY) == ""
