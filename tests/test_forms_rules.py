"""The three rules, each with forms that it rejects and forms that it leaves."""

from __future__ import annotations

import time

import pytest

from archivebot.forms.find import search_forms
from archivebot.forms.form import Form
from archivebot.forms.reader import read_forms
from archivebot.forms.rules import credentials, rejection

TITLE = "Title <input name=title>"


def read(markup: str) -> Form:
    (form,) = read_forms(f"<form>{markup}</form>".encode(), "utf-8")
    return form


@pytest.mark.parametrize(
    "markup",
    ["<input name=q>", "<input type=search><input type=hidden name=a><input type=submit>", "", "<textarea>"],
)
def test_rule_1_rejects_fewer_fields_than_asked_for(markup: str) -> None:
    assert rejection(read(markup)).startswith("rule 1")


@pytest.mark.parametrize(
    "markup",
    [
        f"{TITLE} Author <input name=author>",
        f"{TITLE}<select name=year></select>",
        f"{TITLE}<input type=checkbox name=new>new",
        "<select name=make></select><select name=model></select>",
        "<input type=radio name=a><input type=radio name=a><input type=radio name=b>",
    ],
)
def test_rule_1_leaves_two_fields(markup: str) -> None:
    assert rejection(read(markup)) == ""


def test_rule_1_takes_another_number() -> None:
    two = read(f"{TITLE} Author <input name=author>")
    assert rejection(two, 3) == "rule 1: fields to fill: 2, fewer than 3"
    assert rejection(read(TITLE), 1) == ""


@pytest.mark.parametrize(
    "markup",
    [
        "E-mail <input name=m> <input type=password name=p>",
        "User name <input name=u> City <input name=c>",
        "<label for=u>Username or e-mail</label><input id=u><input name=b>",
        "Your password: <input name=secret> <input name=b>",
        "用户名 <input name=u> 密码 <input name=p>",
        "Логин <input name=l> Пароль <input name=p>",
        "Mot de passe <input name=m><input name=n>",
        "Benutzername <input name=m> Kennwort <input name=n>",
    ],
)
def test_rule_2_rejects_who_logs_in_or_registers(markup: str) -> None:
    form = read(markup)
    assert credentials(form).startswith("rule 2")
    assert rejection(form) == credentials(form)


@pytest.mark.parametrize(
    "markup",
    [
        "Author <input name=author> Title <input name=title>",
        "Name of the passenger <input name=a> Passport <input name=b>",
        "Keywords <input name=keywords> User name <input name=by><input type=submit value=Search>",
        "<input type=checkbox name=p>I have a question about my password <input name=a> <input name=b>",
    ],
)
def test_rule_2_leaves_who_does_not(markup: str) -> None:
    assert credentials(read(markup)) == ""


@pytest.mark.parametrize(
    ("markup", "only"),
    [
        ("<select name=jump onchange=go()><option>News</select>", "selection list"),
        ("<select name=jump></select><input type=submit value=Go>", "selection list"),
        ("<input type=checkbox name=agree>I agree", "check box"),
        ("<input type=checkbox name=l>English<input type=checkbox name=l>Chinese", "check box"),
    ],
)
def test_rule_3_rejects_only_one_check_box_or_one_selection_list(markup: str, only: str) -> None:
    assert rejection(read(markup), 1) == f"rule 3: only one {only}"


@pytest.mark.parametrize("markup", ["<input name=q>", "<select name=a></select><input type=checkbox name=b>"])
def test_rule_3_leaves_other_single_fields_and_both_together(markup: str) -> None:
    assert rejection(read(markup), 1) == ""


@pytest.mark.long
def test_a_form_of_many_user_names_takes_time_in_proportion() -> None:
    fields = "".join(f"User name <input name=a{number}><br>" for number in range(6000))
    started = time.perf_counter()
    (record,) = search_forms(
        f"<form action=/search name=search>{fields}".encode(), "utf-8", "http://a.example/"
    )
    assert len(record.found().data) > len(fields)
    assert time.perf_counter() - started < 5
