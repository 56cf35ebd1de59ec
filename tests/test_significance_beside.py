"""Titles, targets of links and images that are others while the text of the page is the same."""

from __future__ import annotations

import pytest

from archivebot.config import ATTRIBUTES, ArchiveConfig
from archivebot.exceptions import UsageError
from archivebot.models import Attribute, ChangeKind
from archivebot.significance.beside import beside
from archivebot.significance.reading import Reading
from archivebot.significance.significance import significance

TEXT = "A tern dives for fish where the water is shallow, and brings it to the young one by one. "
EVERY = frozenset(Attribute)


def page(
    title: str = "Terns | Coast",
    link: str = "/map",
    image: str = "/a.jpg",
    alt: str = "A tern",
    menu: str = "/",
) -> Reading:
    return Reading(
        f"<title>{title}</title><nav><a href='{menu}'>Home</a></nav><h1>Birds</h1><p>{TEXT * 3}</p>"
        f"<p><img src='{image}' alt='{alt}'>{TEXT * 3}See the <a href='{link}'>map</a>.</p>".encode()
    )


def told(after: Reading) -> list[tuple[str, str, str, str, bool]]:
    return [
        (each.attribute.value, each.of, each.before, each.after, each.content)
        for each in beside(page(), after)
    ]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (page(title="Gulls | Coast"), ("title", "", "Terns | Coast", "Gulls | Coast", True)),
        (page(title="Terns | Shore"), ("title", "", "Terns | Coast", "Terns | Shore", False)),
        (page(title="(3) Terns | Coast"), ("title", "", "Terns | Coast", "(3) Terns | Coast", False)),
        (page(link="/plan"), ("link", "map", "/map", "/plan", True)),
        (page(menu="/start"), ("link", "Home", "/", "/start", False)),
        (page(image="/b.jpg"), ("image", "A tern", "/a.jpg", "/b.jpg", True)),
        (page(alt="A gull"), ("alt", "/a.jpg", "A tern", "A gull", True)),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_both_values_are_told_and_whether_it_is_in_the_content(
    after: Reading, expected: tuple[str, str, str, str, bool]
) -> None:
    assert told(after) == [expected]


@pytest.mark.parametrize(
    "after",
    [
        page(link="/map?utm_source=front&sid=1a2b"),
        page(link="/map;jsessionid=5F0A"),
        page(image="/a.jpg?v=1700000000"),
        page(image="/a.jpg?3f9a8b7c6d5e4f3a"),
        page(image="/a.jpg?cachebust=7"),
    ],
)
def test_sessions_campaigns_and_what_keeps_caches_away_are_no_change(after: Reading) -> None:
    assert told(after) == []
    assert significance(page(), after, counted=EVERY).reason == "the same text in other markup"


@pytest.mark.parametrize(
    ("after", "attribute", "content"),
    [
        (page(title="Gulls | Coast"), Attribute.TITLE, True),
        (page(alt="A gull"), Attribute.ALT, True),
        (page(link="/plan"), Attribute.LINK, False),
        (page(image="/b.jpg"), Attribute.IMAGE, False),
    ],
)
def test_a_setting_says_which_are_content(after: Reading, attribute: Attribute, content: bool) -> None:
    default = significance(page(), after)
    assert (default.kind is ChangeKind.CONTENT) is content
    assert attribute.value in default.reason
    assert significance(page(), after, counted={attribute}).kind is ChangeKind.CONTENT
    assert significance(page(), after, counted=()).kind is ChangeKind.FURNITURE


def test_links_of_a_menu_are_furniture_whatever_the_setting() -> None:
    change = significance(page(), page(menu="/start"), counted=EVERY)
    assert (change.kind, change.reason) == (
        ChangeKind.FURNITURE,
        "the same text, but for link Home: [-/-]{+/start+}",
    )


def test_of_many_links_of_one_text_none_is_known() -> None:
    links = [
        "".join(f"<p>{TEXT}<a href=/{start + n}>Read more</a></p>" for n in range(3)) for start in (1, 5)
    ]
    assert beside(Reading(links[0].encode()), Reading(links[1].encode())) == ()


def test_what_is_no_markup_has_no_attributes() -> None:
    assert beside(Reading(b"one", "text/plain"), Reading(b"two", "text/plain")) == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("title, link", {Attribute.TITLE, Attribute.LINK}),
        (["alt"], {Attribute.ALT}),
        ("", set()),
    ],
)
def test_the_setting_is_a_list(value: object, expected: set[Attribute]) -> None:
    config = ArchiveConfig.from_settings({"ARCHIVE_CONTENT_ATTRIBUTES": value})
    assert config.content_attributes == expected


def test_the_setting_knows_all_attributes_but_fields_which_always_count() -> None:
    assert tuple(each for each in Attribute if each is not Attribute.FIELD) == ATTRIBUTES
    with pytest.raises(UsageError, match="give any of title, link, image, alt"):
        ArchiveConfig.from_settings({"ARCHIVE_CONTENT_ATTRIBUTES": "href"})
