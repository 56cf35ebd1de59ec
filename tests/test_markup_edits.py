"""The edits between two versions of a page, and what they leave as it was."""

from __future__ import annotations

import pytest

from archivebot.markup.edits import count, edits

PAGE = b'<p class=a>One</p><a href=/x>Two</a><script>if (a < b) f("1")</script><!-- x --><p>Three'


def edited(old: bytes, new: bytes) -> bytes:
    assert PAGE.count(old) == 1
    return PAGE.replace(old, new)


def test_the_same_page_has_no_edits() -> None:
    found = edits(PAGE, PAGE)
    assert found is not None
    assert (found.tags, found.texts, found.pieces) == ((), (), ())


def test_a_tag_is_edited_in_its_attributes() -> None:
    found = edits(PAGE, edited(b"class=a", b"class=b id=c"))
    assert found is not None
    [edit] = found.tags
    assert (edit.tag, {*edit.names}) == ("p", {"class", "id"})
    assert (edit.before, edit.after) == ({"class": "a"}, {"class": "b", "id": "c"})
    assert found.keeps_text
    assert [found.keeps("class"), found.keeps("class", tags=("a",))] == [False, True]


def test_another_notation_of_the_same_attributes_is_no_edit_of_a_tag() -> None:
    found = edits(PAGE, edited(b"class=a", b"CLASS='a' class=b"))
    assert found is not None
    assert (found.tags, len(found.pieces)) == ((), 1)


@pytest.mark.parametrize(
    ("old", "new", "code", "linked"),
    [
        (b"One", b"1", "", False),
        (b"Two", b"2", "", True),
        (b'f("1")', b'f("<b>22</b>")', "script", False),
        (b"Three", b"3", "", False),
        (b"Three", b"", "", False),
    ],
)
def test_a_text_is_edited_where_it_stands(old: bytes, new: bytes, code: str, linked: bool) -> None:
    found = edits(PAGE, edited(old, new))
    assert found is not None
    [edit] = found.texts
    assert (edit.code, edit.linked) == (code, linked)
    assert found.keeps_text == bool(code)


def test_an_edited_comment_changes_nothing() -> None:
    found = edits(PAGE, edited(b" x ", b" another "))
    assert found is not None
    assert (found.tags, found.texts) == ((), ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"</p>", b"</p><p>"),
        (b"<p>Three", b"<b>Three"),
        (b"<p class=a>", b"<P class=a /><p>"),
        (b" x ", b" --><p>x<!-- "),
        (b"<!-- x -->", b"<p>x</p>"),
        (b"if (a", b"</script><p>if (a"),
    ],
)
def test_other_elements_are_no_edits(old: bytes, new: bytes) -> None:
    assert edits(PAGE, edited(old, new)) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # A sign in an attribute is no tag.
        (b'<p title="<b>1</b>">x', b'<p title="<b>2</b>">x'),
        # The parser puts a hidden field into a table, any other before it.
        (b"<table><input type=hidden>", b"<table><input type=text>"),
        # A drawing holds the elements of its style sheet.
        (b"<svg><style>a</style></svg>", b"<svg><style>b</style></svg>"),
        (b"<!doctype html><p>x", b"<!doctype htm><p>x"),
        (b"a<p>x", b"b<p>x"),
    ],
)
def test_what_cannot_be_told_is_not_called_an_edit(before: bytes, after: bytes) -> None:
    assert edits(before, after) is None


def test_offsets_move_with_the_edits_before_them() -> None:
    before, after = b"<p class=a>One</p>\r\n<p>Two</p>", b"<p class=bcd>One</p>\r\n<p>Four</p>"
    found = edits(before, after)
    assert found is not None
    for piece in (b"<p>T", b"</p>\r\n", b"\r\n"):
        assert found.moved(before.index(piece)) == after.index(piece.replace(b"T", b"F"))
    assert found.moved(len(before)) == len(after)
    assert found.moved(before.index(b"wo")) is None
    assert found.moved(0) == 0


def test_a_link_is_open_until_its_end() -> None:
    before = b"<a href=x><b>One</b><svg><a>1</a></svg> two</a> three"
    found = edits(before, before.replace(b"One", b"1").replace(b"three", b"3"))
    assert found is not None
    assert [text.linked for text in found.texts] == [True, False]


def test_signs_in_scripts_do_not_count() -> None:
    assert count(b"<p>x<script>if (a<b) write('<p>')</script>") == count(b"<p>x<script></script>") == 3
