"""A version as its lines: which are content, which firm, and at which byte they stand."""

from __future__ import annotations

import numpy as np
import pytest

from archivebot.content.lines import Line, Place
from archivebot.significance.entries import LEAST_LIKELY, headlines, listed
from archivebot.significance.reading import Reading
from archivebot.significance.worth import Worth

PROSE = "A tern dives for fish where the water is shallow and clear. "
MENU = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("About", "Wiki", "Help", "Jobs", "News"))


def worth_of(body: str, line: str) -> Worth:
    reading = Reading(body.encode())
    return reading.worth[reading.lines.index(line)]


def page(more: str) -> str:
    return f"<title>Terns</title><h1>Terns</h1><p>{PROSE * 4}</p>{more}<p>{PROSE * 3}</p>"


def test_a_list_of_short_links_is_furniture_wherever_it_stands() -> None:
    assert worth_of(page(f"<ul>{MENU}</ul>"), "Wiki") < Worth.TITLE


def test_the_links_of_a_page_of_links_are_no_menu() -> None:
    titles = [f"The terns of the {n}th island" for n in range(4, 12)]
    body = "<main>" + "".join(f"<h3><a href=/{title}>{title}</a></h3>" for title in titles) + "</main>"
    assert worth_of(body, titles[3]) is not Worth.FURNITURE


def test_a_link_beside_the_stories_of_a_front_page_is_content_in_a_heading_or_if_long() -> None:
    body = Place("body", None, None, 0, 0, 4)
    item, heading = (Place(tag, None, body, 1, 0, 4) for tag in ("li", "h4"))
    storm = "Storm takes half of the nests on the islands"
    links = [(storm, item), ("Ferry", heading), ("Ferry", item)]
    lines = [Line(text, 1, place, linked=len(text), links=1) for text, place in links]
    lines.append(Line(storm, 9, item))
    likely, chosen = np.full(4, LEAST_LIKELY), np.zeros(4, dtype=bool)
    assert headlines(lines, likely, chosen, hub=True).tolist() == [True, True, False, False]
    assert not headlines(lines, likely, chosen, hub=False).any()
    assert not headlines(lines, likely / 2, chosen, hub=True).any()


def test_a_linked_heading_beside_a_page_of_teasers_is_content() -> None:
    teasers = "".join(
        f"<article><h3><a href=/{n}>The terns of the {n}th island</a></h3><p>{PROSE * 3}</p></article>"
        for n in range(4, 12)
    )
    aside = (
        "<aside><div>Video</div><h4><a href=/t>Ferry</a></h4><div>43 min</div><div>Ann Example</div></aside>"
    )
    assert worth_of(f"<main>{teasers}</main>{aside}", "Ferry") is Worth.LIGHT
    assert worth_of(f"<main><h1>Terns</h1><p>{PROSE * 24}</p></main>{aside}", "Ferry") < Worth.TITLE


@pytest.mark.parametrize(("prose", "expected"), [(700, True), (1200, False)])
def test_linked_headings_are_content_where_the_main_text_is_short_beside_them(
    prose: int, expected: bool
) -> None:
    heading, paragraph = Place("h3", None, None, 0, 0, 6), Place("p", None, None, 0, 6, 7)
    lines = [Line("t" * 25, 4, heading, linked=25, links=1) for _ in range(6)]
    lines.append(Line("p" * prose, 100, paragraph))
    chosen = np.array([False] * 6 + [True])
    found = headlines(lines, np.full(7, 0.03), chosen, hub=False)
    assert found.tolist() == [expected] * 6 + [False]


def test_a_line_that_is_not_chosen_is_content_in_a_list_most_of_which_is() -> None:
    names = ("li", "li", "li", "li", "div")
    place = Place("body", None, None, 0, 0, 5)
    outer = Place("ul", None, place, 1, 0, 4)
    places = [
        Place(name, None, outer if name != "div" else place, 2, n, n + 1) for n, name in enumerate(names)
    ]
    lines = [Line("two words", 2, each) for each in places]
    chosen = np.array([True, True, True, False, False])
    assert listed(lines, chosen).tolist() == [True, True, True, True, False]
    assert listed(lines, np.array([True, True, False, False, True])).tolist() == [False] * 5


def test_the_title_beside_the_text_is_known_but_for_a_link_to_it() -> None:
    head = "<header><div>Terns 2.1</div></header><nav><a href=/>Terns 2.2</a></nav>"
    body = f"<title>{{}} | Coast</title>{head}<p>{PROSE * 4}</p>"
    assert worth_of(body.format("Terns 2.1"), "Terns 2.1") is Worth.TITLE
    assert worth_of(body.format("Terns"), "Terns 2.1") < Worth.TITLE
    assert worth_of(body.format("Terns 2.2"), "Terns 2.2") < Worth.TITLE


@pytest.mark.parametrize(
    "line",
    [
        f'{{"template": "{"3f9a" * 16}", "pages": ["one", "two"], "state": "as of the last build of them"}}',
        "The tern and the logo of the tern are registered trademarks of The Example Foundation of the coast.",
    ],
    ids=["token", "trademark"],
)
def test_what_is_long_but_no_prose_is_furniture_beside_the_text(line: str) -> None:
    foot = f"<footer><ul>{MENU}</ul><div>{line}</div></footer>"
    assert worth_of(page(f"<p>{PROSE * 20}</p>" * 9) + foot, line) is Worth.FURNITURE


def test_running_text_cells_and_prices_are_firm() -> None:
    rows = "".join(
        f"<tr><td>Nests of the year {year}</td><td>{year - 800}</td></tr>" for year in range(2000, 2009)
    )
    body = page(f"<table>{rows}</table><p>Entry: 12 €</p>")
    assert worth_of(body, (PROSE * 4).strip()) is Worth.FIRM
    assert worth_of(body, "1200") is Worth.FIRM
    assert worth_of(body, "Entry: 12 €") is Worth.FIRM


def test_a_time_since_in_the_middle_of_the_text_is_furniture() -> None:
    assert worth_of(page("<p>3 hours ago</p>"), "3 hours ago") is Worth.FURNITURE


def starts(reading: Reading) -> list[int]:
    return [reading.start(index) for index in range(len(reading.lines))]


@pytest.mark.parametrize("charset", ["utf-8", "cp1252", "utf-16-le"])
def test_lines_stand_at_bytes_of_the_body(charset: str) -> None:
    source = f"<meta charset={charset}>\r\n<p>Übergröße</p>\r\nlose<p id=x>Näher</p>"
    body = source.encode(charset)
    reading = Reading(body, f"text/html; charset={charset}")
    assert reading.lines == ("Übergröße", "lose", "Näher")
    found = [body[start:].decode(charset).strip() for start in starts(reading)]
    assert [text[:4] for text in found] == ["Über", "lose", "Nähe"]


def test_bytes_that_the_charset_does_not_know_move_nothing() -> None:
    body = b"<p>\xff\xfe\xfd</p><p>after</p>"
    reading = Reading(body, "text/html; charset=utf-8")
    assert body[reading.start(len(reading.lines) - 1) :].startswith(b"after")


def test_a_text_is_firm_line_by_line_and_other_data_one_line_that_differs_with_every_byte() -> None:
    text = Reading(b"one\r\n\r\ntwo\n", "text/plain")
    assert (text.lines, starts(text), set(text.worth)) == (("one", "two"), [0, 7], {Worth.FIRM})
    pictures = [Reading(b"GIF89a" + bytes([n]), "image/gif").lines for n in range(2)]
    assert len(pictures[0]) == 1
    assert pictures[0] != pictures[1]


@pytest.mark.parametrize("body", [b"", b"<", b"\0\0", b"<p>", b"\xef\xbb\xbf<p>x", b"<!doctype html>"])
def test_any_bytes_are_read(body: bytes) -> None:
    assert len(Reading(body).lines) == len(Reading(body).worth) == len(starts(Reading(body)))
