"""Whether the content of a page changed or only its furniture, on versions of one small page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from archivebot.significance.reading import Reading
from archivebot.significance.significance import ChangeKind, significance

TERNS = "A tern dives for fish where the water is shallow, and brings it to the young one by one."
GULLS = "A gull takes what it finds, on the shore as well as on the fields behind it, all the year."


def page(text: str = "", menu: str = "Jobs", foot: str = "© 2023 Example", head: str = "") -> bytes:
    items = "".join(
        f"<li><a href=/{n}>{name}</a></li>" for n, name in enumerate(("Home", "Birds", "Map", menu))
    )
    return (
        f"<html><head><title>Birds of the coast</title>{head}</head><body><nav><ul>{items}</ul></nav>"
        f"<main><h1>Birds of the coast</h1><p>{TERNS} {TERNS}</p>{text}<p>{GULLS} {GULLS}</p></main>"
        f"<footer><p>{foot}</p></footer></body></html>"
    ).encode()


NOTICE = "Copyright © 1997-2025 The Terns Society. " + TERNS * 4
SCRAPED = f"{TERNS * 4} Last scrape:"
MENU_ALONE = (
    b"<title>Tags</title><header><nav><ul><li><a href=/>Home of the terns</a>"
    b"<li><a href=/g>Gulls 3.0 (stable)</a><li>"
    b"<a href=/c>Contributing to the project and its many releases</a></ul></nav></header>"
)
FOOT_ALONE = (
    b"<title>Tags</title><p><a href=/>Read on</a></p><div class=footer><p>Terns and the tern are"
    b" registered trademarks or trademarks of the Terns Society in the United States and in other"
    b" countries.</p></div>"
)


def kind(before: bytes, after: bytes, *history: bytes) -> ChangeKind:
    readings = [Reading(body) for body in (before, after, *history)]
    return significance(readings[0], readings[1], [each.lines for each in readings[2:]]).kind


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (page(), page(menu="Imprint")),
        (page(), page(foot="© 2024 Example")),
        (page(head="<script>token=1</script>"), page(head="<script>token=2</script>")),
        (
            page(head="<link rel=stylesheet href=/a.css?v=1>"),
            page(head="<link rel=stylesheet href=/a.css?v=2>"),
        ),
        (page("<p>3 hours ago</p>"), page("<p>4 hours ago</p>")),
        (page("<p>By Ann Example, 3 hours ago</p>"), page("<p>By Ann Example, 4 hours ago</p>")),
        (page("<p>1,301 views</p>"), page("<p>1,312 views</p>")),
        (page("<p>20:54</p>"), page("<p>29.01.22</p>")),
        (page(f"<p>{NOTICE}</p>"), page(f"<p>{NOTICE.replace('2025', '2026')}</p>")),
        (
            page(f"<p>{SCRAPED} 2020-11-18 16:54:13 UTC</p>"),
            page(f"<p>{SCRAPED} 2020-11-18 17:02:55 UTC</p>"),
        ),
        (MENU_ALONE, MENU_ALONE.replace(b"Gulls 3.0", b"Gulls 3.1")),
        (FOOT_ALONE, FOOT_ALONE.replace(b"the tern", b"the tern, the gull")),
    ],
    ids=[
        "menu",
        "year of the footer",
        "token",
        "cache",
        "time since",
        "time since in a byline",
        "counter",
        "date instead of a time",
        "years of a long notice",
        "time to the second in a long line",
        "menu of a page without content",
        "trademarks in the foot of a page without content",
    ],
)
def test_furniture(before: bytes, after: bytes) -> None:
    assert kind(before, after) is ChangeKind.FURNITURE
    assert kind(after, before) is ChangeKind.FURNITURE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"<p>{GULLS.replace('gull', 'skua')}</p>"),
        (
            "<p>The reserve is open from March until the end of August, on 5 days a week.</p>",
            "<p>The reserve is open from March until the end of August, on 6 days a week.</p>",
        ),
        (
            "<p>This policy is in force from 1 May 2024 on, for all visitors of the reserve.</p>",
            "<p>This policy is in force from 2 May 2024 on, for all visitors of the reserve.</p>",
        ),
        ("<p>Entry for a family: 12 €</p>", "<p>Entry for a family: 14 €</p>"),
        (f"<p>{TERNS}</p><p>{GULLS}</p>", f"<p>{GULLS}</p><p>{TERNS}</p>"),
    ],
    ids=["paragraph", "number in prose", "effective date", "price", "order"],
)
def test_content(before: str, after: str) -> None:
    assert kind(page(before), page(after)) is ChangeKind.CONTENT
    assert kind(page(after), page(before)) is ChangeKind.CONTENT


def test_a_title_beside_the_text_counts_where_the_title_element_changed() -> None:
    def titled(title: str, head: str) -> bytes:
        return f"<title>{title} | Coast</title>{head}<h1>Birds #</h1><p>{TERNS} {TERNS}</p>".encode()

    head = "<header><div>Terns 2.1</div></header>"
    shown = titled("Terns 2.1", head)
    assert kind(shown, titled("Terns 2.2", head.replace("2.1", "2.2"))) is ChangeKind.CONTENT
    assert kind(shown, titled("Terns 2.2", "")) is ChangeKind.CONTENT
    assert kind(shown, titled("Terns 2.1", "")) is ChangeKind.FURNITURE


def test_the_title_in_the_main_text_is_content() -> None:
    title = "<title>Recall of tern feed | Shop</title>"
    before, after = (
        f"{title}<h1>Feed</h1><p>{TERNS} {TERNS}</p>{more}<p>{GULLS} {GULLS}</p>".encode()
        for more in ("", "<p>Recall of tern feed</p>")
    )
    assert kind(before, after) is ChangeKind.CONTENT


def test_another_order_is_content_though_counters_moved() -> None:
    def listed(*stories: str) -> bytes:
        return page("".join(f"<h2>{story} comments</h2>" for story in stories))

    before = listed("Storm takes the nests 12", "Flood on the islands 5")
    assert kind(before, listed("Storm takes the nests 13", "Flood on the islands 6")) is ChangeKind.FURNITURE
    assert kind(before, listed("Flood on the islands 6", "Storm takes the nests 13")) is ChangeKind.CONTENT


def test_the_reason_shows_the_line_that_told() -> None:
    found = significance(
        Reading(page()), Reading(page("<p>A storm took half of the nests on the island in June.</p>"))
    )
    assert found.reason == "+ A storm took half of the nests on the island in June."
    menu = significance(Reading(page()), Reading(page(menu="Imprint")))
    assert menu.reason == "only furniture: [-Jobs-]{+Imprint+}"
    assert (
        significance(Reading(page()), Reading(page() + b"<!-- 1 -->")).reason
        == "the same text in other markup"
    )


def test_two_texts_that_take_turns_are_furniture_from_the_fourth_visit_on() -> None:
    first, other = (
        page(f"<p>{name} shows you the birds of the island every day at noon, come and see.</p>")
        for name in ("Ann", "Ben")
    )
    assert kind(first, other) is ChangeKind.CONTENT
    assert kind(other, first, first) is ChangeKind.CONTENT
    assert kind(first, other, other, first) is ChangeKind.FURNITURE


def test_a_counter_that_no_word_gives_away_is_known_by_its_history() -> None:
    visits = [page(f"<h2>Nests seen so far: {count}</h2>") for count in (31, 34, 40, 52, 60)]
    assert kind(visits[3], visits[4]) is ChangeKind.CONTENT
    assert kind(visits[3], visits[4], *visits[2::-1]) is ChangeKind.FURNITURE


def test_a_price_is_no_counter_whatever_its_history() -> None:
    visits = [page(f"<h2>Entry from today on: {price} €</h2>") for price in (31, 34, 40, 52, 60)]
    assert kind(visits[3], visits[4], *visits[2::-1]) is ChangeKind.CONTENT


def test_dates_of_a_list_by_another_time_zone_are_furniture_one_date_is_not() -> None:
    def dated(*days: int) -> bytes:
        return page("".join(f"<p>{day} May 2024</p>" for day in days))

    assert kind(dated(4, 9, 12), dated(5, 10, 13)) is ChangeKind.FURNITURE
    assert kind(dated(4, 9, 12), dated(5, 9, 12)) is ChangeKind.CONTENT


def test_the_history_is_not_read_where_nothing_of_content_changed() -> None:
    def history() -> Iterator[tuple[str, ...]]:
        raise AssertionError("read")
        yield ()

    before, after = Reading(page()), Reading(page(menu="Imprint"))
    assert significance(before, after, history()).kind is ChangeKind.FURNITURE


def test_two_earlier_versions_are_read_of_a_page_that_is_new_at_every_visit() -> None:
    pages = [
        Reading(page(f"<p>{GULLS.replace('gull', bird)}</p>")) for bird in "auk crow dove hawk kite".split()
    ]
    history = iter([each.lines for each in pages[2::-1]])
    assert significance(pages[3], pages[4], history).kind is ChangeKind.CONTENT
    assert len(list(history)) == 1


def test_three_texts_that_take_turns_are_known() -> None:
    first, second, third = (page(f"<p>{GULLS.replace('gull', bird)}</p>") for bird in ("auk", "crow", "dove"))
    assert kind(first, second, third, second, first) is ChangeKind.FURNITURE


def test_blocks_are_told_apart_in_one_change() -> None:
    before, after = page(), page(f"<p>{GULLS.replace('gull', 'skua')}</p>", menu="Imprint")
    change = significance(Reading(before), Reading(after))
    menus = [(body.index(b"<nav>"), body.index(b"</nav>")) for body in (before, after)]
    mains = [(body.index(b"<main>"), body.index(b"</main>")) for body in (before, after)]
    assert change.of_block(*menus) is ChangeKind.FURNITURE
    assert change.of_block(*mains) is ChangeKind.CONTENT
    assert change.of_block(None, mains[1]) is ChangeKind.CONTENT
    assert change.of_block(mains[0], None) is ChangeKind.FURNITURE
