"""Semantic fingerprints: equal for one story in other words, and only for that."""

from __future__ import annotations

import random

from archivebot.fingerprint.semantic import MAX_CHARS, SemanticFingerprint, TermRarity, semantic_fingerprint
from archivebot.fingerprint.synonyms import Synonyms

COMMON = "people said yesterday report week government year city"
RARITY = TermRarity.of([f"{COMMON} topic{number}" for number in range(200)])
TITLE = "Volcano erupts near Reykjavik"
BODY = "Lava flows from the volcano; Reykjavik airport closed, ash over the airport. People said yesterday."


def fingerprint(title: str = TITLE, body: str = BODY, **options: object) -> SemanticFingerprint:
    found = semantic_fingerprint(title, body, RARITY, **options)  # type: ignore[arg-type,unused-ignore]
    assert found is not None
    return found


def test_the_five_terms_that_weigh_most_in_the_order_of_their_signs() -> None:
    assert fingerprint().terms == ("airport", "ash", "close", "reykjavik", "volcano")


def test_the_order_of_words_and_common_words_change_nothing() -> None:
    words = BODY.split()
    random.Random(1).shuffle(words)
    assert fingerprint(body=" ".join(words)) == fingerprint()
    assert fingerprint(body=f"{BODY} {COMMON}") == fingerprint()
    assert fingerprint(body=f"{BODY} {COMMON}").digest == fingerprint().digest


def test_text_behind_the_limit_changes_nothing() -> None:
    filled = BODY + " week" * MAX_CHARS
    assert fingerprint(body=filled + "glacier " * 50) == fingerprint(body=filled)
    assert fingerprint(body="glacier " * 50 + filled) != fingerprint(body=filled)


def test_one_other_term_makes_another_fingerprint() -> None:
    other = fingerprint(TITLE.replace("Volcano", "Geyser"), BODY.replace("volcano", "geyser"))
    assert len(set(other.terms) & set(fingerprint().terms)) == 4
    assert other != fingerprint()
    assert other.digest != fingerprint().digest


def test_synonyms_change_nothing() -> None:
    synonyms = Synonyms(["airport, airfield, flying field", "volcano, fire mountain"])
    told = "Lava flows from the fire mountain; Reykjavik airfield closed, ash over the flying field."
    assert fingerprint(body=told) != fingerprint()
    assert fingerprint(body=told, synonyms=synonyms).terms == fingerprint().terms
    assert fingerprint(body=told, synonyms=synonyms) == fingerprint(synonyms=synonyms)


def test_names_weigh_more() -> None:
    assert "lava" not in fingerprint().terms
    assert fingerprint(names=["Lava"]).terms == ("airport", "ash", "lava", "reykjavik", "volcano")


def test_two_headlines_of_one_story_in_chinese() -> None:
    one = semantic_fingerprint("冰岛火山喷发", "", RARITY)
    other = semantic_fingerprint("冰岛火山喷发!", "", RARITY)
    assert one == other is not None


def test_too_few_terms_tell_no_story() -> None:
    assert semantic_fingerprint("Volcano", "lava ash", RARITY) is None


def test_fingerprints_of_other_counts_or_synonyms_are_never_equal() -> None:
    other = semantic_fingerprint(TITLE, BODY, TermRarity(RARITY.documents + 1, RARITY.counts))
    assert other is not None
    assert other.terms == fingerprint().terms
    assert other != fingerprint()
    assert other.digest != fingerprint().digest
    assert fingerprint(synonyms=Synonyms([])) != fingerprint()


def test_rare_terms_weigh_more_than_common_ones() -> None:
    assert RARITY.idf("report") == 1
    assert RARITY.idf("topic7") < RARITY.idf("never")
