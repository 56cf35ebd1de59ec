"""Features: what is seen of a form, by where it stands and by what it means."""

from __future__ import annotations

import pytest

from archivebot.forms.features import events, sources
from archivebot.forms.lexicon import meanings
from tests.test_forms_classifier import CONTACT, SEARCH_BOX
from tests.test_forms_labels import read


def test_each_source_is_told_apart() -> None:
    form = read(
        """<div class=topbar><form action=http://a.example/find/it id=main><label>Word <input name=w id=box
        title=Type></label>Any text<input type=image src=/img/go.gif alt=Now name=b1></form></div>"""
    )
    assert sources(form) == {
        "action": "/find/it",
        "form": "main main",
        "around": "topbar",
        "name": "w",
        "id": "box",
        "button": "Now go.gif",
        "button name": "b1",
        "label": "Word",
        "hint": "Type",
        "text": "Word\nAny text",
    }


def test_a_search_box_has_its_events() -> None:
    assert events(read(SEARCH_BOX)) >= {
        "method get",
        "1 text boxes",
        "1 fields",
        "only a text",
        "a name of search boxes",
        'button has "search"',
        "button means search",
        "action means search",
        "means search",
        "1 fields, means search",
        "does not mean buy",
        "1 fields, nothing personal",
        "0 password",
        "no around",
    }


def test_a_contact_form_asks_for_something_personal() -> None:
    seen = events(read(CONTACT))
    assert {"3 to 5 fields, something personal", "means write", "does not mean search", "method post"} <= seen


def test_scripts_that_act_on_a_change_and_missing_buttons_are_seen() -> None:
    seen = events(read("<form><select name=lang onchange=go()><option>en</select></form>"))
    assert {"acts on a change", "1 fields, no button", "only a select", "name means show"} <= seen


@pytest.mark.parametrize(
    "word",
    [
        *(
            "search",
            "Suche",
            "rechercher",
            "buscar",
            "cerca",
            "zoeken",
            "hledat",
            "hľadaj",
            "szukaj",
            "keresés",
        ),
        *("pesquisa", "поиск", "найти", "пошук", "搜索", "查询", "検索", "검색", "txtSearchBox", "frmSuche2"),
    ],
)
def test_searching_is_understood_in_many_languages(word: str) -> None:
    assert "search" in meanings(word.lower())


@pytest.mark.parametrize("word", ["send", "research", "subscribe", "войти", "联系我们", "quantity"])
def test_other_words_do_not_mean_searching(word: str) -> None:
    assert "search" not in meanings(word.lower())
