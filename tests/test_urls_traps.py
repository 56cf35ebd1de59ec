from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.urls.traps import (
    MAX_LENGTH,
    MAX_PARAMETERS,
    MAX_SAME_SEGMENT,
    MAX_SEGMENTS,
    YEARS_AHEAD,
    YEARS_BEHIND,
    trap,
)

TODAY = date(2026, 7, 1)
SITE = "http://example.com/"


def test_length_has_a_bound() -> None:
    assert trap(SITE.ljust(MAX_LENGTH, "a")) is None
    assert trap(SITE.ljust(MAX_LENGTH + 1, "a")) == "too_long"


def test_depth_has_a_bound() -> None:
    segments = [str(number) for number in range(MAX_SEGMENTS + 1)]
    assert trap(SITE + "/".join(segments[:-1]) + "/?a=/b/c/d") is None
    assert trap(SITE + "/".join(segments)) == "too_deep"


def test_one_segment_may_come_back_only_so_often() -> None:
    assert trap(SITE + "a/x/" * 2 + "y/a") is None
    assert trap(SITE + "a/" * MAX_SAME_SEGMENT) is None
    assert trap(SITE + "a/" * (MAX_SAME_SEGMENT + 1)) == "repeated_segment"
    assert trap(SITE + "a/b/a/c/a/d/a") == "repeated_segment"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a/b/a/b", None),
        ("a/b/a/b/a/b", "repeated_segment"),
        ("x/a/b/a/b/a/b/y", "repeated_segment"),
        ("a/b/c/a/b/c/a/b/c/", "repeated_segment"),
        ("a/b/a/b/a/bc", None),
        ("a/b/xa/b/a/b", None),
        ("?next=/a/b/a/b/a/b", None),
        ("django/django/blob/contrib/middleware/django", None),
    ],
)
def test_run_of_segments_repeats_at_most_twice(path: str, reason: str | None) -> None:
    assert trap(SITE + path) == reason


def test_parameters_have_a_bound() -> None:
    parameters = [f"p{number}=1" for number in range(MAX_PARAMETERS + 1)]
    assert trap(f"{SITE}?{'&'.join(parameters[:-1])}") is None
    assert trap(f"{SITE}?{'&'.join(parameters)}") == "too_many_parameters"


@pytest.mark.parametrize(
    "form",
    [
        "{}/05/",
        "{}/05/31",
        "{}-05",
        "blog/{}-05-31/",
        "?date={}-05-31",
        "a?m={}-05&x=1",
        "?month=5&year={}",
        "cal.php?Month=05&Year={}",
        "?tx_month=12&tx_year={}",
    ],
)
def test_listing_by_date_may_lie_only_so_far_ahead(form: str) -> None:
    last = TODAY.year + YEARS_AHEAD
    assert trap(SITE + form.format(last), TODAY) is None
    assert trap(SITE + form.format(last + 1), TODAY) == "calendar"


@pytest.mark.parametrize(
    "form",
    [
        "calendar/{}/05/",
        "events/{}-05-31",
        "kalender?m={}-05",
        "?tribe-bar-date={}-05-01",
        "?month=5&year={}",
    ],
)
def test_calendar_may_lie_only_so_far_behind(form: str) -> None:
    first = TODAY.year - YEARS_BEHIND
    assert trap(SITE + form.format(first), TODAY) is None
    assert trap(SITE + form.format(first - 1), TODAY) == "calendar"


@pytest.mark.parametrize(
    "path",
    [
        "1923/05/",
        "1987/05/31",
        "?date=1923-05-31",
        "2050/05/an-article",
        "2050/13/",
        "2050/5",
        "12050/05",
        "2050",
        "?year=2050",
        "?month=5",
        "?month=13&year=2050",
        "eventually/1950/05",
        "calendar/",
    ],
)
def test_archive_of_a_paper_and_what_is_no_date_are_no_calendar(path: str) -> None:
    assert trap(SITE + path, TODAY) is None


def test_today_is_the_current_day_where_it_is_not_given() -> None:
    year = datetime.now(UTC).year
    assert trap(f"{SITE}{year}/01/") is None
    assert trap(f"{SITE}{year + YEARS_AHEAD + 2}/01/") == "calendar"


@given(st.text())
def test_any_text_gets_an_answer(text: str) -> None:
    assert trap(text) in {None, "too_long", "too_deep", "repeated_segment", "too_many_parameters", "calendar"}
