"""The language of a page."""

from __future__ import annotations

import pytest
from turbohtml import parse

from archivebot.content.language import guess, language

# The first article of the Universal Declaration of Human Rights, United Nations.
ARTICLE_1 = {
    "en": "All human beings are born free and equal in dignity and rights. They are endowed with reason and"
    " conscience and should act towards one another in a spirit of brotherhood.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und"
    " Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison"
    " et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de"
    " razón y conciencia, deben comportarse fraternalmente los unos con los otros.",
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
}


@pytest.mark.parametrize("code", ARTICLE_1)
def test_a_sentence_names_its_language(code: str) -> None:
    assert guess(ARTICLE_1[code]) == code


def test_the_declaration_comes_before_the_text() -> None:
    assert language(parse("<html lang=DE-at>"), ARTICLE_1["en"]) == "de"
    assert language(parse("<meta property=og:locale content=fr_FR>"), ARTICLE_1["en"]) == "fr"


@pytest.mark.parametrize("declared", ["", "<html lang=''>", "<html lang='{{ lang }}'>"])
def test_without_a_declaration_that_can_be_read_the_text_decides(declared: str) -> None:
    assert language(parse(declared), ARTICLE_1["de"]) == "de"


def test_a_list_of_names_has_no_language() -> None:
    assert guess("Canon EOS R5, Nikon Z8, Sony A7 IV, Fujifilm X-T5, Leica Q3") == ""
