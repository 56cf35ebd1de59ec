"""What earlier versions tell of a line."""

from __future__ import annotations

from archivebot.significance.habits import Habits


def test_of_two_texts_that_take_turns_both_are_known_when_the_first_goes_again() -> None:
    habits = Habits([["A"], ["B"], ["A"]])
    assert habits.alternates("A")
    assert habits.alternates("B")


def test_a_paragraph_that_is_put_back_is_none_that_takes_turns() -> None:
    assert not Habits([["kept", "paragraph"], ["kept"]]).alternates("paragraph")


def test_a_line_that_no_version_had_is_none_that_takes_turns() -> None:
    assert not Habits([["A"], ["B"], ["A"]]).alternates("C")


def test_a_counter_has_other_numbers_each_time() -> None:
    versions = [[f"{count} have signed", "Room 4"] for count in (3, 4, 9, 12)]
    assert Habits(versions).counts("15 have signed")
    assert not Habits(versions).counts("Room 5")


def test_too_few_versions_show_no_counter() -> None:
    assert not Habits([["3 have signed"], ["4 have signed"], ["9 have signed"]]).counts("12 have signed")


def test_a_number_alone_and_a_sentence_are_no_counters() -> None:
    assert not Habits([[str(n)] for n in range(5)]).counts("5")
    sentences = [[f"The tower of the town hall, built long ago, has {n} steps today"] for n in range(5)]
    assert not Habits(sentences).counts("The tower of the town hall, built long ago, has 5 steps today")
