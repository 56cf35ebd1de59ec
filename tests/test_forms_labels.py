"""Labels and attributes: what a reader takes for the name of a field, and what makes one field."""

from __future__ import annotations

import pytest

from archivebot.forms.form import Form
from archivebot.forms.reader import read_forms

BOOKS = """<form name=books action=/find>
<table>
 <tr><td>Author:</td><td><input name=author><br>
  <input type=radio name=how value=1>First name, initials
  <input type=radio name=how value=2>Start of last name
  <input type=radio name=how value=3>Exact name</td></tr>
 <tr><td>Title:</td><td><input name=title></td></tr>
 <tr><td>Price</td><td><input name=priceFrom> to <input name=priceTo></td></tr>
 <tr><td>Format</td><td><select name=format><option>any<option>hardcover</select></td></tr>
</table>
<input type=submit value="Search now"></form>"""


def read(markup: str) -> Form:
    (form,) = read_forms(markup.encode(), "utf-8")
    return form


def attributes(markup: str) -> list[tuple[str, list[str]]]:
    return [
        (attribute.label, [control.name for control in attribute.controls])
        for attribute in read(markup).attributes
    ]


def test_the_author_of_a_book_is_a_text_box_and_three_radio_buttons() -> None:
    assert attributes(BOOKS) == [
        ("Author", ["author", "how", "how", "how"]),
        ("Title", ["title"]),
        ("Price", ["priceFrom", "priceTo"]),
        ("Format", ["format"]),
    ]


def test_radio_buttons_have_labels_of_their_own() -> None:
    author = read(BOOKS).attributes[0]
    assert [control.label for control in author.controls] == [
        *("Author", "First name, initials", "Start of last name", "Exact name")
    ]


@pytest.mark.parametrize(
    "markup",
    [
        "<label for=a>Author</label> <p>by</p> <input id=a>",
        "<p>Surname of the</p><p>by</p><input id=a><label for=a>Author *</label>",
        "<label>Author: <input></label>",
        "<label><input placeholder=by> Author</label>",
        "by <input aria-label=Author placeholder=by title=by>",
        "by <input placeholder=Author title=by>",
        "Author: <input title=by value=by>",
        "<div>Author</div><div><input></div>",
        "<b>Author</b><br><input>",
        "<table><tr><th>Author<td><input></table>",
        "<input title=Author value=by>",
        "<input value=Author>",
    ],
    ids=[
        *("for", "for, after", "around", "around, with a placeholder", "aria-label", "placeholder", "before"),
        *("block before", "line before", "cell before", "title", "value"),
    ],
)
def test_a_label_is_the_first_that_there_is(markup: str) -> None:
    assert attributes(f"<form>{markup}</form>")[0][0] == "Author"


def test_a_long_sentence_is_no_label() -> None:
    assert attributes(f"<form>{'Please tell us all about it. ' * 5}<input></form>")[0][0] == ""


def test_options_scripts_and_the_text_of_other_controls_are_no_labels() -> None:
    markup = "<form><select><option>one</select><textarea>two</textarea><script>three</script><input></form>"
    assert [label for label, _ in attributes(markup)] == ["", "", ""]


def test_check_boxes_of_one_name_are_called_by_the_line_before() -> None:
    markup = """<form><fieldset><legend>Language</legend><input type=checkbox name=l>English
        <input type=checkbox name=l>Chinese</fieldset></form>"""
    assert attributes(markup) == [("Language", ["l", "l"])]


def test_a_single_check_box_is_called_by_the_text_after_it() -> None:
    assert attributes("<form><p>Options</p><p><input type=checkbox name=s>in stock</p></form>") == [
        ("in stock", ["s"])
    ]


def test_the_text_after_a_radio_button_is_no_label_of_the_next_field() -> None:
    markup = "<form><input type=radio name=r>used<input name=title></form>"
    assert attributes(markup) == [("used", ["r"]), ("", ["title"])]


def test_parts_of_a_date_are_one_attribute_and_two_lists_beside_each_other_are_not() -> None:
    markup = "<form>From <select name=dep_day></select><select name=dep_month></select> {}</form>"
    assert attributes(markup.format("<select name=cabin></select>")) == [
        ("From", ["dep_day", "dep_month"]),
        ("", ["cabin"]),
    ]


def test_a_tick_in_a_block_of_its_own_is_an_attribute_of_its_own() -> None:
    markup = "<form><p>Words <input name=q></p><p><input type=checkbox name=all>all words</p></form>"
    assert attributes(markup) == [("Words", ["q"]), ("all words", ["all"])]


def test_hidden_controls_and_buttons_are_controls_and_no_attributes() -> None:
    form = read("<form><input type=hidden name=sid><input name=q><button name=go>Go</button></form>")
    assert [control.kind for control in form.controls] == ["hidden", "text", "submit"]
    assert len(form.attributes) == 1


def test_a_label_outside_of_the_form_names_a_control_of_it() -> None:
    form = "<form id=f><input name=a id=a><label for=b>Within</label><p><input name=b id=b></form>"
    outside = "<label for=a>Author</label><label for=b>Elsewhere</label>"
    assert attributes(f"{outside}{form}<label>Year <input name=y form=f></label>") == [
        ("Author", ["a"]),
        ("Within", ["b"]),
        ("Year", ["y"]),
    ]


def test_a_label_in_another_form_names_no_control() -> None:
    forms = read_forms(b"<form><label for=a>User</label></form><form><input name=a id=a></form>", "utf-8")
    assert forms[1].attributes[0].label == ""
