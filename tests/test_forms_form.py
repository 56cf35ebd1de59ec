"""Forms as data: what is to be filled, and the signature that names a form wherever it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from archivebot.forms.form import Control, Form

BOOKS = Form(
    "books",
    "/find.asp",
    "get",
    (),
    (
        Control("text", "author"),
        Control("radio", "match", "start"),
        Control("radio", "match", "exact"),
        Control("select", "year"),
        Control("hidden", "db"),
        Control("submit", "go"),
    ),
)


def test_radio_buttons_of_one_name_are_one_field_and_buttons_none() -> None:
    assert BOOKS.questions == 3


def test_check_boxes_of_several_names_are_several_fields() -> None:
    boxes = (Control("checkbox", "new"), Control("checkbox", "used"), Control("checkbox", "used"))
    assert replace(BOOKS, controls=boxes).questions == 2


def test_a_form_on_two_pages_has_one_signature() -> None:
    relative = replace(BOOKS, action="find.asp")
    absolute = replace(BOOKS, action="http://a.example/find.asp?lang=en")
    assert relative.signature("http://a.example/") == absolute.signature("http://a.example/help/index.html")


@pytest.mark.parametrize(
    "other",
    [
        replace(BOOKS, method="post"),
        replace(BOOKS, action="/seek.asp"),
        replace(BOOKS, controls=BOOKS.controls[1:]),
        replace(BOOKS, controls=(Control("search", "author"), *BOOKS.controls[1:])),
    ],
    ids=["method", "action path", "control less", "type of a control"],
)
def test_another_form_has_another_signature(other: Form) -> None:
    assert other.signature() != BOOKS.signature()


@pytest.mark.parametrize(
    "same",
    [
        replace(BOOKS, controls=BOOKS.controls[::-1]),
        replace(BOOKS, controls=(replace(BOOKS.controls[0], value="Poe"), *BOOKS.controls[1:])),
        replace(BOOKS, action="/find.asp;jsessionid=5C2A?x=1"),
        replace(BOOKS, name="other", css="wide", text="Find a book"),
        replace(BOOKS, controls=(*BOOKS.controls, Control("hidden", 4 * "b4ba95ce", "1"))),
    ],
    ids=["order", "values", "session and query", "looks", "a token as a name"],
)
def test_what_does_not_make_a_form_another_leaves_the_signature(same: Form) -> None:
    assert same.signature() == BOOKS.signature()


def test_an_action_that_is_no_address_is_taken_as_it_is() -> None:
    broken = replace(BOOKS, action="//[")
    assert broken.signature("http://a.example/") == broken.signature()
