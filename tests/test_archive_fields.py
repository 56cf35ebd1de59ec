"""Fields of archived pages: kept with the version, compared, and the parts that a site ignores or watches."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig, UserFile
from archivebot.models import Attribute, AttributeChange, Capture, ChangeKind, Field, Kind, Outcome
from tests.factories import URL, make_page

SITE = '[[site]]\nmatch="example.com"\n'
PRICE = 'fields = { price = { css = ".price", type = "number" } }\n'
PARTS = 'ignore = ".visits"\nwatch = "#stock"\n'
STORY = "The council met on Monday to hear why the ferry is late, and who will pay for the second boat. "


def page(price: str = "12", stock: str = "5 left", visits: str = "", story: str = STORY) -> bytes:
    return f"""<html><head><title>Ferry</title></head><body><h1>The ferry</h1><p>{story * 4}</p>
<footer><p class=price>{price}</p><p id=stock>{stock}</p></footer>
<div><p class=visits>{visits}</p></div></body></html>""".encode()


def opened(folder: Path, fields: str = "") -> Archive:
    config = ArchiveConfig(uri=f"sqlite:///{folder}/a.db", fields=UserFile("a.toml", fields))
    return Archive.open(config)


def visit(archive: Archive, body: bytes, day: float) -> Capture:
    return archive.add(archive.segment(make_page(body, day)))


def counted(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """The fields that selectors find."""
    return tuple(field for field in fields if field.counts)


def kinds(folder: Path, fields: str, *bodies: bytes) -> list[tuple[Kind, str]]:
    """The kinds of the visits of a page, and the reasons of their changes."""
    with closing(opened(folder, fields)) as archive:
        found = [visit(archive, body, day) for day, body in enumerate(bodies)]
        deltas = [
            archive.delta(URL, archive.seen(old), archive.seen(new)) for old, new in itertools.pairwise(found)
        ]
        return [(found[0].kind, ""), *((c.kind, d.reason) for c, d in zip(found[1:], deltas, strict=True))]


def test_a_field_with_an_accent_after_a_control_character_is_compared(tmp_path: Path) -> None:
    fields = SITE + 'fields = { price = { css = ".price" } }\n'
    _, (kind, reason) = kinds(tmp_path, fields, page("a\b\u0307"), page("b\b\u0307"))
    assert kind is Kind.CHANGED
    assert reason.startswith("field price")


def test_fields_are_kept_with_the_version_and_given_with_each_visit(tmp_path: Path) -> None:
    with closing(opened(tmp_path, SITE + PRICE)) as archive:
        first = visit(archive, page(), 0)
        assert counted(first.fields) == (Field("price", "12"),)
        assert archive.body(first) == page()
        again = visit(archive, page(), 1)
        assert (again.kind, again.fields) == (Kind.REVISIT, first.fields)
    with closing(opened(tmp_path)) as archive:
        unchanged = replace(make_page(b"", 2), outcome=Outcome.NOT_MODIFIED, status=304)
        assert archive.add(archive.segment(unchanged)).fields == first.fields
        assert archive.fields(archive.version(URL, 1)) == first.fields
        assert [len(blocks) for blocks in (archive.blocks(archive.version(URL, 1)), first.blocks)] == [3, 3]


def test_an_archive_without_fields_is_as_it_was_and_takes_them_from_then_on(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as archive:
        assert counted(visit(archive, page("12"), 0).fields) == ()
    with closing(opened(tmp_path, SITE + PRICE)) as archive:
        second = visit(archive, page("13"), 1)
        delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
        assert (second.kind, delta.reason) == (Kind.CHANGED, "field price: [-12-]{+13+}")
        assert counted(archive.fields(archive.version(URL, 1))) == (Field("price", "12"),), "read anew"
    with closing(opened(tmp_path)) as archive:
        delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
        assert delta.attributes == (), "the first version keeps none to compare with"


def test_a_page_has_a_description_and_a_summary_that_do_not_count(tmp_path: Path) -> None:
    described = [
        page().replace(b"<head>", b'<head><meta name="description" content="%s">' % text)
        for text in (b"Ferries", b"Boats")
    ]
    with closing(opened(tmp_path)) as archive:
        first, second = (visit(archive, body, day) for day, body in enumerate(described))
        assert first.fields == (
            Field("description", '"Ferries"', counts=False),
            Field("summary", f'"{STORY}{STORY.strip()}"', counts=False),
        )
        delta = archive.delta(URL, archive.seen(first), archive.seen(second))
        assert second.kind is Kind.TOUCHED
        assert delta.attributes == (
            AttributeChange(Attribute.FIELD, "description", "Ferries", "Boats", False),
        )


def test_a_selector_may_name_a_field_of_its_own_that_does_not_count(tmp_path: Path) -> None:
    fields = SITE + 'fields = { summary = "h1", seen = { css = ".visits", counts = false } }\n'
    ignore = 'ignore = ".visits"\n'
    assert kinds(tmp_path, fields + ignore, page(visits="1"), page(visits="2"))[1] == (
        Kind.TOUCHED,
        "only ignored parts",
    )
    with closing(opened(tmp_path)) as archive:
        delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
        assert [(each.of, each.content) for each in delta.attributes] == [("seen", False)]
        kept = {field.name: field for field in archive.fields(archive.version(URL, 1))}
        assert kept["summary"] == Field("summary", '"The ferry"')


def test_an_edited_field_is_content_and_named_with_both_values(tmp_path: Path) -> None:
    with closing(opened(tmp_path, SITE + PRICE)) as archive:
        visit(archive, page("12"), 0)
        assert visit(archive, page("13"), 1).kind is Kind.CHANGED
    with closing(opened(tmp_path)) as archive:  # by the kept fields
        delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
        (change,) = (each for each in delta.attributes if each.content)
        assert (change.attribute, change.of, change.before, change.after) == (
            Attribute.FIELD,
            "price",
            "12",
            "13",
        )
        assert (delta.kind, delta.reason) == (ChangeKind.CONTENT, "field price: [-12-]{+13+}")


@pytest.mark.parametrize(
    ("before", "after", "plain", "by_parts"),
    [
        ({"visits": "seen by 12 people of the town"}, {"visits": STORY}, Kind.CHANGED, Kind.TOUCHED),
        ({"stock": "5 left"}, {"stock": "4 left"}, Kind.TOUCHED, Kind.CHANGED),
        ({"stock": "5 left"}, {"stock": "<b>5</b> left"}, Kind.TOUCHED, Kind.TOUCHED),
        ({"stock": "<a href=/a>x</a>"}, {"stock": "<a href=/b>x</a>"}, Kind.TOUCHED, Kind.CHANGED),
        ({"story": STORY}, {"story": STORY.replace("late", "early")}, Kind.CHANGED, Kind.CHANGED),
    ],
)
def test_ignored_parts_never_count_and_watched_parts_always(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], plain: Kind, by_parts: Kind
) -> None:
    for name, fields, kind in (("a", "", plain), ("b", SITE + PARTS, by_parts)):
        (tmp_path / name).mkdir()
        assert kinds(tmp_path / name, fields, page(**before), page(**after))[1][0] is kind


def test_the_reason_names_what_was_ignored_and_what_was_watched(tmp_path: Path) -> None:
    bodies = page(), page(visits="seen by 12"), page(visits="seen by 13", stock="4 left")
    assert kinds(tmp_path, SITE + PARTS, *bodies) == [
        (Kind.NEW, ""),
        (Kind.TOUCHED, "only ignored parts"),
        (Kind.CHANGED, "watched: [-5-]{+4+} left"),
    ]


def test_the_block_of_a_watched_part_is_content_in_a_delta(tmp_path: Path) -> None:
    with closing(opened(tmp_path, SITE + PARTS)) as archive:
        visit(archive, page(visits="seen by 12"), 0)
        visit(archive, page(visits="seen by 13", stock="4 left"), 1)
        delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
    assert {change.topic: change.kind for change in delta.changes if change.kind} == {
        "12 4 left": ChangeKind.CONTENT,
        "seen 13": ChangeKind.FURNITURE,
    }


def test_a_version_keeps_the_parts_by_which_it_was_judged(tmp_path: Path) -> None:
    with closing(opened(tmp_path, SITE + PARTS)) as archive:
        visit(archive, page(), 0)
        visit(archive, page(visits=STORY), 4)
    with closing(opened(tmp_path)) as archive:
        visit(archive, page(visits="none"), 2)
        delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
        assert [capture.kind for capture in archive.captures(URL)] == [Kind.NEW, Kind.TOUCHED, Kind.TOUCHED]
        assert delta.reason == "only ignored parts"


def test_a_page_is_parsed_again_only_where_it_has_ignored_parts(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as archive:
        plain = archive.readings.of(page(), "text/html")
        assert archive.readings.of(page(), "text/html", (".none",)) is plain
        without = archive.readings.of(page(visits="x"), "text/html", (".visits", "title"))
        assert ("x" in without.lines, without.title) == (False, "")
        assert "x" in archive.readings.of(page(visits="x"), "text/html").lines


def test_other_bodies_than_pages_have_no_fields(tmp_path: Path) -> None:
    with closing(opened(tmp_path, SITE + PRICE + PARTS)) as archive:
        for day, (body, kind) in enumerate([(b"a,1", "text/csv"), (b"a,2", "text/csv"), (b"%PDF", "")]):
            fetched = make_page(body, day, headers=(("Content-Type", kind),))
            assert archive.add(archive.segment(fetched)).fields == (), kind
        assert archive.fields(archive.version(URL, 1)) == ()
