"""The profile of a topic: written whole, read back as it was, and refused with advice."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from archivebot.exceptions import UsageError
from archivebot.topic.logistic import Logistic
from archivebot.topic.profile import SCHEMA, TopicProfile, load, names, save

PROFILE = TopicProfile(
    name="diving",
    terms={"reef": 1.0, "潜水": 2.5},
    combination=Logistic(-1.5, {"cosine": 3.0}),
    negative={"casino": 0.5},
    threshold=0.4,
    link_model={"any": ["thing"]},
    synonyms=(("reef", "lagoon"), ("gambling hall", "casino")),
    neighbours={"boat": 0.25},
    relevant=3,
    other=1,
)


def test_a_profile_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    path = save(PROFILE, tmp_path / "topics")
    assert path == tmp_path / "topics" / "diving.json"
    assert load("diving", tmp_path / "topics") == PROFILE
    assert names(tmp_path / "topics") == ["diving"]


def test_the_file_is_readable_and_has_its_version_and_best_terms_first(tmp_path: Path) -> None:
    text = save(PROFILE, tmp_path).read_text("utf-8")
    assert '"潜水": 2.5' in text
    assert json.loads(text)["schema"] == SCHEMA
    assert list(json.loads(text)["terms"]) == ["潜水", "reef"]


def test_saving_again_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    save(PROFILE, tmp_path)
    save(TopicProfile("diving", {"boat": 1.0}, Logistic(0.0, {})), tmp_path)
    assert dict(load("diving", tmp_path).terms) == {"boat": 1.0}
    assert [path.name for path in tmp_path.iterdir()] == ["diving.json"]


@pytest.mark.parametrize("mask", [0o022, 0o027])
def test_the_file_has_the_rights_of_any_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        path = save(PROFILE, tmp_path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_words_are_similar_to_the_topic_in_proportion_to_its_best_term() -> None:
    near = PROFILE.similarity()
    assert (near.of("潜水"), near.of("reef"), near.of("casino")) == (1.0, 0.4, 0.0)


def test_a_synonym_is_worth_what_its_term_is_and_a_neighbour_what_the_texts_say() -> None:
    assert PROFILE.vector == {**PROFILE.signed, "lagoon": 1.0, "gambl": -0.5, "hall": -0.5}
    near = PROFILE.similarity()
    assert (near.of("lagoon"), near.of("boat"), near.of("gambl")) == (0.4, 0.25, 0.0)


def test_a_profile_from_before_there_were_synonyms_is_read(tmp_path: Path) -> None:
    path = save(PROFILE, tmp_path)
    stored = json.loads(path.read_text("utf-8"))
    del stored["synonyms"], stored["neighbours"]
    path.write_text(json.dumps(stored), "utf-8")
    assert load("diving", tmp_path) == replace(PROFILE, synonyms=(), neighbours={})


def test_an_unknown_topic_names_those_nearly_so_called(tmp_path: Path) -> None:
    save(PROFILE, tmp_path)
    with pytest.raises(UsageError, match="is it diving"):
        load("divin", tmp_path)
    with pytest.raises(UsageError, match="scrapy topic cooking --from"):
        load("cooking", tmp_path)


@pytest.mark.parametrize("name", ["", "../diving", "a/b", ".hidden", "-x"])
def test_a_name_that_is_no_file_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot name a topic"):
        load(name, tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', "\xff"])
def test_a_file_that_is_no_profile_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "diving.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match="make the topic again"):
        load("diving", tmp_path)


def test_a_profile_of_another_schema_is_refused(tmp_path: Path) -> None:
    path = save(PROFILE, tmp_path)
    path.write_text(path.read_text("utf-8").replace(f'"schema": {SCHEMA}', '"schema": 99'), "utf-8")
    with pytest.raises(UsageError, match="schema is 99"):
        load("diving", tmp_path)


def test_a_folder_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        save(PROFILE, tmp_path / "file")
