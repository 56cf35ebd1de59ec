"""Reading forms out of pages as they are: misnested tables, broken bytes, controls elsewhere."""

from __future__ import annotations

import time

import pytest

from archivebot.forms.form import Form
from archivebot.forms.reader import read_forms
from archivebot.markup.media import media_of


def read(markup: str) -> list[Form]:
    return read_forms(markup.encode(), "utf-8")


def names(form: Form) -> list[str]:
    return [control.name for control in form.controls]


def test_forms_come_in_the_order_of_the_page_also_those_without_controls() -> None:
    forms = read("<form name=a></form><p><form name=b><input name=q></form><form name=c></form>")
    assert [(form.name, names(form)) for form in forms] == [("a", []), ("b", ["q"]), ("c", [])]


@pytest.mark.parametrize(
    "markup",
    [
        "<table><form><tr><td><input name=a></td></tr><tr><td><input name=b></td></tr></form></table>",
        "<table><tr><form><td><input name=a></td><td><input name=b></td></form></tr></table>",
        "<form><table><tr><td><input name=a><tr><td><input name=b></table></form>",
        "<form><p><div><b><input name=a></p><input name=b></b></form>",
    ],
    ids=["around rows", "around cells", "open cells", "misnested"],
)
def test_a_form_in_broken_markup_keeps_its_controls(markup: str) -> None:
    (form,) = read(markup)
    assert names(form) == ["a", "b"]


def test_a_control_belongs_to_the_form_that_it_names() -> None:
    inner, outer = read(
        "<input name=before form=x><form id=y><input name=y1><input name=x2 form=x></form>"
        "<form id=x><input name=x1></form><input name=nobody form=z>"
    )
    assert names(inner) == ["y1"]
    assert names(outer) == ["x1", "before", "x2"]


def test_a_control_belongs_to_the_first_form_of_the_id_that_it_names() -> None:
    forms = read("<form id=x><input name=a></form><form id=x><input name=b></form><input name=c form=x>")
    assert [names(form) for form in forms] == [["a", "c"], ["b"]]


def test_a_form_within_a_form_has_its_controls_for_itself() -> None:
    outer, inner = read("<form id=o><div><input name=a><form id=i><input name=b></form></div></form>")
    assert (outer.name, inner.name) == ("o", "i")
    assert (names(outer), names(inner)) == (["a"], ["b"])


def test_forms_after_a_first_end_of_the_page_are_read() -> None:
    assert len(read("<html><body><form></form></body></html><html><body><form></form></body></html>")) == 2


def test_forms_in_comments_and_scripts_are_none() -> None:
    assert read("<!-- <form></form> --><script>'<form></form>'</script><p>x") == []


def test_attributes_of_the_form_and_names_of_what_it_stands_in() -> None:
    opening = '<form ACTION=" /s " METHOD=POST id=f role=Search aria-label=Site>'
    (form,) = read(f'<div id=top class="bar search">{opening}</form></div>')
    assert (form.name, form.action, form.method) == ("f", "/s", "post")
    assert (form.css, form.role, form.label) == ("f", "search", "Site")
    assert form.around == ("top bar search",)


@pytest.mark.parametrize("method", ["", " method=put", " method"])
def test_any_other_method_is_get(method: str) -> None:
    assert read(f"<form{method}></form>")[0].method == "get"


def test_bytes_that_a_charset_lacks_do_not_end_the_page() -> None:
    (form,) = read_forms(b"<p>\x98\x00</p><form><input name=q></form>", "cp1251")
    assert names(form) == ["q"]


def test_labels_are_read_in_the_charset_of_the_page() -> None:
    body = '<meta charset="gb2312"><form>书名：<input name=t></form>'.encode("gb2312")
    (form,) = read_forms(body, media_of(body, saved=True).charset)
    assert form.attributes[0].label == "书名"


@pytest.mark.parametrize("body", [b"", b"\0", b"<", b"<!-- ", b"\xff\xfe", b"plain text"])
def test_what_is_no_page_has_no_forms(body: bytes) -> None:
    assert read_forms(body, media_of(body, saved=True).charset) == []


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", ["<form><div>", "<label>", "<a><b>", "<form><input>y", "<input type=radio name=a>x", "<select>"]
)
def test_hostile_pages_take_time_in_proportion(piece: str) -> None:
    started = time.perf_counter()
    read("<form>" + piece * (300_000 // len(piece)))
    assert time.perf_counter() - started < 5


@pytest.mark.long
def test_forms_of_one_id_take_time_in_proportion() -> None:
    started = time.perf_counter()
    read("<form id=x></form>" * 5000 + "<input name=a form=x>" * 5000)
    assert time.perf_counter() - started < 5


@pytest.mark.long
def test_controls_of_another_form_in_one_label_take_time_in_proportion() -> None:
    started = time.process_time()
    read("<form id=x></form><label>" + "<input name=a form=x>" * 60_000)
    assert time.process_time() - started < 12  # in proportion to the square it took 40


def test_a_form_in_a_template_is_none_unless_it_is_shown_in_a_shadow_tree() -> None:
    shadow = "<div><template shadowrootmode=open><form name=a><input name=q></form></template></div>"
    forms = read(f"<template><form name=b></form>{shadow}</template>{shadow}")
    assert [form.name for form in forms] == ["a"]
