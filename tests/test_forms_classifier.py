"""The decision: V_yes against V_no, what the shipped weights say of plain forms, and the model as JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from archivebot.exceptions import UsageError
from archivebot.forms.classifier import Decision, FormClassifier, posteriors
from archivebot.forms.features import events
from tests.test_forms_labels import BOOKS, read

SEARCH_BOX = (
    "<form action=/search><input name=q placeholder='Search this site'><button>Search</button></form>"
)
LOGIN = """<form action=/login method=post>User name <input name=user> Password
    <input type=password name=pass><input type=submit value="Log in"></form>"""
REGISTRATION = """<form action=/register method=post>First name <input name=first> Last name <input name=last>
    E-mail <input type=email name=mail> Password <input type=password name=p1> Again
    <input type=password name=p2><input type=submit value=Register></form>"""
JUMP_MENU = "<form><select name=jump onchange=go()><option>News<option>Sport</select></form>"
NEWSLETTER = "<form method=post action=/newsletter>E-mail <input name=email><button>Subscribe</button></form>"
CONTACT = """<form method=post action=/contact>Name <input name=name> E-mail <input name=email>
    Message <textarea name=message></textarea><button>Send</button></form>"""
CART = """<form method=post action=/cart/add>Quantity <input name=qty value=1><input type=hidden name=product>
    <button>Add to cart</button></form>"""
FLIGHTS = """<form action=/flights method=get><label>From <input name=origin></label>
    <label>To <input name=destination></label><select name=cabin><option>Economy</select>
    <input type=submit value="Search flights"></form>"""
JOBS = """<form action=/jobs/search>Keywords <input name=keywords> Location <input name=location>
    <select name=category><option>All categories</select><button>Find jobs</button></form>"""


def decide(markup: str) -> Decision:
    return FormClassifier.shipped().decide(read(markup))


@pytest.mark.parametrize("markup", [BOOKS, FLIGHTS, JOBS], ids=["books", "flights", "jobs"])
def test_a_search_of_several_fields_is_a_query_interface(markup: str) -> None:
    decision = decide(markup)
    assert decision.search
    assert decision.multi_field
    assert decision.score > 0.5


@pytest.mark.parametrize(
    ("author", "title", "search"),
    [
        ("المؤلف", "العنوان", "بحث"),
        ("نویسنده", "عنوان", "جستجو"),
        ("מחבר", "כותר", "חיפוש"),
        ("Συγγραφέας", "Τίτλος", "Αναζήτηση"),
        ("ผู้แต่ง", "ชื่อเรื่อง", "ค้นหา"),
        ("Författare", "Titel", "Sök"),
        ("Forfatter", "Titel", "Søg"),
        ("Författare", "Titel", "Boksök"),
        ("Autor", "Naslov", "Traži"),
        ("Autor", "Título", "Consultar"),
    ],
)
def test_a_form_that_searches_is_known_by_its_button_in_many_languages(
    author: str, title: str, search: str
) -> None:
    fields = f"{author} <input name=a> {title} <input name=b>"
    assert decide(f"<form action=/f>{fields} <input type=submit value={search}></form>").multi_field


@pytest.mark.parametrize("search", ["Search", "Suchen", "Rechercher", "Buscar", "Поиск", "搜索"])
def test_a_box_that_searches_the_site_searches_and_is_no_query_interface(search: str) -> None:
    decision = decide(f"<form action=/s><input name=s><input type=submit value={search}></form>")
    assert decision.search
    assert not decision.multi_field
    assert "no query interface by rule 1" in decision.reason


@pytest.mark.parametrize(
    "markup",
    [LOGIN, REGISTRATION, JUMP_MENU, NEWSLETTER, CONTACT, CART, "<form></form>"],
    ids=["login", "registration", "jump menu", "newsletter", "contact", "cart", "empty"],
)
def test_what_does_not_search(markup: str) -> None:
    decision = decide(markup)
    assert not decision.search
    assert not decision.multi_field
    assert decision.reason


@pytest.mark.parametrize("markup", [LOGIN, REGISTRATION], ids=["login", "registration"])
def test_login_and_registration_are_rejected_whatever_the_words_say(markup: str) -> None:
    decision = decide(markup.replace("<form", "<form id=search-form class=search role=search"))
    assert not decision.search
    assert decision.reason.startswith("rule 2")


def test_the_number_of_fields_asked_for_decides_on_the_interface_not_on_the_search() -> None:
    form = read(SEARCH_BOX)
    assert FormClassifier.shipped().decide(form, least=1).multi_field
    assert not FormClassifier.shipped().decide(form).multi_field


def test_a_tie_is_no() -> None:
    form = read(BOOKS)
    assert not FormClassifier(0.0, {}).decide(form).search
    even = FormClassifier(-2.0, {"method get": 2.0})
    assert even.votes(events(form)) == (2.0, 2.0)
    assert not even.decide(form).search
    assert FormClassifier(-2.0, {"method get": 2.001}).decide(form).search


@pytest.mark.parametrize(("yes", "no"), [(0.0, 0.0), (3.0, 5.0), (800.0, 1.0), (0.0, 1e9)])
def test_posteriors_sum_to_one(yes: float, no: float) -> None:
    assert sum(posteriors(yes, no)) == pytest.approx(1)


def test_the_score_is_the_posterior_of_the_votes() -> None:
    model = FormClassifier(-1.0, {"method get": 1.5, "many fields": -0.25})
    yes, no = model.votes(events(read(BOOKS)))
    assert model.decide(read(BOOKS)).score == pytest.approx(1 / (1 + math.exp(no - yes)))


def test_the_reason_names_what_spoke_most_for_the_decision() -> None:
    weights = {"method get": 1.0, 'button has "search"': 3.0, "1 search": 9.0, "2 radio": -4.0}
    assert (
        FormClassifier(0.5, weights)
        .decide(read(SEARCH_BOX))
        .reason.startswith('button has "search"; method get;')
    )
    assert FormClassifier(-5.0, weights).decide(read(BOOKS)).reason == "2 radio"


def test_a_model_is_the_same_after_it_was_saved(tmp_path: Path) -> None:
    model = FormClassifier(-1.25, {'label has "作者"': 0.5, "method post": -0.75})
    model.save(tmp_path / "model.json")
    assert FormClassifier.load(tmp_path / "model.json") == model


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "bias": "x", "weights": {}}'], ids=repr
)
def test_what_is_no_model_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(UsageError):
        FormClassifier.load(path)


def test_the_shipped_model_has_weights_of_this_format() -> None:
    told = FormClassifier.shipped().as_dict()
    assert json.loads(json.dumps(told)) == told
    assert len(told["weights"]) > 500
