"""What pages say anew at every visit, told from what they say for good."""

from __future__ import annotations

import time

import pytest

from archivebot.significance.volatile import in_another_zone, is_date, is_volatile, lasting


@pytest.mark.parametrize(
    "line",
    [
        *(
            "5 minutes ago",
            "an hour ago",
            "Posted 2 days ago",
            "vor 3 Std.",
            "il y a 2 heures",
            "hace 5 minutos",
        ),
        *("há 3 horas", "5分钟前", "3時間前", "2 часа назад", "3 timer siden", "Updated: just now"),
        *("12:30", "7:05 pm", "23:47 Uhr", "12:03:44", "1,301 views", "Comments: 25", "Comments (25)"),
        *(
            "8 comments, 1.2k shares",
            "495 Kommentare",
            "Kommentare: 8 , Empfehlungen: 40",
            "3 likes",
        ),
        *("© 2024 Example Inc.", "Copyright © 2014-2022 The Example Foundation. All Rights Reserved."),
    ],
)
def test_what_is_said_anew_at_every_visit(line: str) -> None:
    assert is_volatile(line)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            "12",
            "12.50",
            "$ 12",
            "1,301",
            "25 %",
            "Version 2.4",
            "3 rooms",
            "Open for 2 hours",
            "Room 12:30a",
        ),
        *(
            "Effective 1 May 2024",
            "1 May 2024",
            "2024-05-01",
            "Terns arrived 3 weeks ago and have bred since.",
        ),
        *("Copyright law was changed in 2024", "Comments", "Views of the sea", "2 shares of Example Inc."),
        *("vor 3 Richtern", "5 members", "From 10:00 to 12:00", "Chapter 3: views"),
    ],
)
def test_what_is_said_for_good(line: str) -> None:
    assert not is_volatile(line)


def test_a_time_since_is_taken_out_of_a_byline_but_not_out_of_a_paragraph() -> None:
    assert lasting("von Ann Example vor 2 Stunden") == lasting("von Ann Example vor 3 Stunden")
    paragraph = "The hall was closed 3 weeks ago, " * 10
    assert lasting(paragraph) != lasting(paragraph.replace("3", "4"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("By Ann Example 240 comments", "By Ann Example 243 comments"),
        ("The bridge is open again. 152 Kommentare", "The bridge is open again."),
        ("See the FAQ .", "See the FAQ."),
    ],
)
def test_counters_at_the_end_and_spaces_beside_a_sign_do_not_last(before: str, after: str) -> None:
    assert lasting(before) == lasting(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The law drew 240 comments.", "The law drew 243 comments."),
        ("Room 1 2", "Room 12"),
        ("The values are 1, 200 of them", "The values are 1,200 of them"),
        ("From 5 - 8", "From 5-8"),
        ("By Ann 240 members", "By Ann 243 members"),
        ("Example Office download 7.6.4", "Example Office download 7.6.5"),
        ("Most popular downloads 2024", "Most popular downloads 2025"),
        ("Parliament passes the law with 312 votes", "Parliament passes the law with 298 votes"),
        ("Capital stock, issued shares: 1,200,000", "Capital stock, issued shares: 3,400,000"),
        ("The hotel at the harbour has 5 stars", "The hotel at the harbour has 2 stars"),
        ("The plan is limited to 3 subscribers", "The plan is limited to 30 subscribers"),
        ("The museum had 4000 visitors", "The museum had 9000 visitors"),
    ],
)
def test_numbers_of_the_text_last(before: str, after: str) -> None:
    assert lasting(before) != lasting(after)


@pytest.mark.parametrize(
    "line", ["1. Mai 2024", "30 juil. 2019", "Friday, 3 May 2024", "May 3rd, 2024", "03/05/2024"]
)
def test_bare_dates(line: str) -> None:
    assert is_date(line)


@pytest.mark.parametrize(
    "line", ["", "2024", "May", "Valid from 3 May 2024 on", "3 May", "Meeting 3 May 2024 12"]
)
def test_what_is_no_bare_date(line: str) -> None:
    assert not is_date(line)


def test_dates_move_by_a_day_all_at_once_and_the_same_way() -> None:
    assert in_another_zone(["31 Dec 2023", "5 May 2024"], ["1 Jan 2024", "6 May 2024"])
    assert in_another_zone(["1 Jan 2024", "6 May 2024"], ["31 Dec 2023", "5 May 2024"])
    assert not in_another_zone(["4 May 2024", "6 May 2024"], ["5 May 2024", "5 May 2024"])
    assert not in_another_zone(["4 May 2024", "6 May 2024"], ["5 May 2024", "7 June 2024"])
    assert not in_another_zone(["4 May 2024", "6 May 2024"], ["5 May 2024"])
    assert not in_another_zone([], [])


@pytest.mark.parametrize(
    "piece", ["1 views", "1.1,", "a ", "vor 1 h ", "12:", "1 a ", "12 likes, ", "Dec 1, ", " 1,1", " ."]
)
def test_no_line_takes_long(piece: str) -> None:
    line = piece * 3000
    started = time.process_time()
    for size in (59, 60, 199, 200, len(line)):
        is_volatile(line[:size])
        lasting(line[:size])
        is_date(line[:size])
    assert time.process_time() - started < 0.5
