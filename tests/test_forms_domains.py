"""Domains of forms: what the lists of words say, what examples change, and the model as JSON."""

from __future__ import annotations

import pytest

from archivebot.forms.domains import OTHER, Domains
from archivebot.forms.form import Form
from archivebot.forms.reader import read_forms

FORMS = {
    "books": "Author <input name=author> Title <input name=title> ISBN <input name=isbn>",
    "jobs": "Job title <input name=job> Location <input name=where> Salary <select name=salary></select>",
    "air tickets": "From airport <input name=o> Departure <input name=d> Passengers <input name=adults>",
    "hotels": "City <input name=city> Check-in <input name=checkin> Rooms <select name=rooms></select>",
    "cars": "Make <select name=make></select> Model <select name=model></select> Fuel <input name=f>",
    "property": "Bedrooms <select name=bedrooms></select> Rent <input name=rent> Apartment <input name=a>",
    "films": "Director <input name=director> Actor <input name=actor> Film <input name=film>",
    "music": "Song <input name=song> Album <input name=album> Artist <input name=artist>",
}
ABROAD = {
    "books": "作者 <input name=a> 书名 <input name=b> 出版社 <input name=c>",
    "jobs": "Stellenangebote <input name=a> Beruf <input name=b>",
    "air tickets": "出发 <input name=a> 到达 <input name=b> 航班 <input name=c>",
    "hotels": "Hôtel <input name=a> Chambres <select name=b></select>",
    "cars": "Марка <select name=a></select> Пробег <input name=b> Двигатель <select name=c></select>",
    "property": "Wohnung <input name=a> Miete bis <input name=b>",
}


def read(markup: str) -> Form:
    (form,) = read_forms(f"<form action=/find>{markup}<button>Search</button></form>".encode(), "utf-8")
    return form


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_of_the_domain_that_its_words_are_of(name: str) -> None:
    verdict = Domains.shipped().of(read(FORMS[name]))
    assert verdict.name == name
    assert verdict.posterior > 0.5
    assert verdict.words


@pytest.mark.parametrize("name", ABROAD)
def test_the_lists_hold_words_of_several_languages(name: str) -> None:
    assert Domains.shipped().of(read(ABROAD[name])).name == name


@pytest.mark.parametrize(
    "markup",
    ["<input name=q>", "Name <input name=n> E-mail <input name=m>", "Title <input>", "<input name=depart>"],
    ids=["site search", "contact", "one word", "another single word"],
)
def test_a_form_without_words_of_a_domain_is_of_none(markup: str) -> None:
    assert Domains.shipped().of(read(markup)).name is None


def test_labelled_forms_make_a_new_domain() -> None:
    recipe = read("Ingredient <input name=ingredient> Cuisine <select name=cuisine></select>")
    assert Domains.shipped().of(recipe).name is None
    domains = Domains.shipped().taught([("recipes", recipe), (OTHER, read("<input name=q>"))] * 5)
    assert domains.of(recipe).name == "recipes"
    assert domains.of(read(FORMS["books"])).name == "books"
    assert domains.of(read("<input name=q>")).name is None
    assert domains.names == (*Domains.shipped().names, "recipes")


def test_labelled_forms_of_no_domain_outweigh_the_lists() -> None:
    form = read("Make <input name=make> Model <input name=model>")
    assert Domains.shipped().of(form).name == "cars"
    assert Domains.shipped().taught([(OTHER, form)] * 20).of(form).name is None
