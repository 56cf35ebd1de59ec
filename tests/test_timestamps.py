"""Times as people and programs write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.exceptions import UsageError
from archivebot.timestamps import parse_since, parse_time, timestamp


def at(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(microsecond=999_999, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("2026", "2026-12-31 23:59:59"),
        ("202602", "2026-02-28 23:59:59"),
        ("202402", "2024-02-29 23:59:59"),
        ("202604", "2026-04-30 23:59:59"),
        ("20260102", "2026-01-02 23:59:59"),
        ("2026010203", "2026-01-02 03:59:59"),
        ("202601020304", "2026-01-02 03:04:59"),
        ("20260102030405", "2026-01-02 03:04:05"),
        ("9999", "9999-12-31 23:59:59"),
        ("  2026 ", "2026-12-31 23:59:59"),
    ],
)
def test_digits_left_out_count_to_their_end(text: str, end: str) -> None:
    assert parse_time(text) == at(end)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("2026-02", "2026-02-28 23:59:59"),
        ("2026-01-02", "2026-01-02 23:59:59"),
        ("2026-01-02T03", "2026-01-02 03:59:59"),
        ("2026-01-02T03:04", "2026-01-02 03:04:59"),
        ("2026-01-02 03:04Z", "2026-01-02 03:04:59"),
        ("2026-01-02T03+01:00", "2026-01-02 02:59:59"),
        ("2026-01-02T03:04+01:00", "2026-01-02 02:04:59"),
        ("2026-01-02T03:04:05", "2026-01-02 03:04:05"),
        ("2026-01-02T03:04:05Z", "2026-01-02 03:04:05"),
        ("20260102T030405Z", "2026-01-02 03:04:05"),
        ("2026-01-01T23:30:00-01:00", "2026-01-02 00:30:00"),
    ],
)
def test_iso_times_left_out_count_to_their_end_and_no_zone_is_utc(text: str, end: str) -> None:
    assert parse_time(text) == at(end)


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        ("2026", "2026-01-01 00:00:00"),
        ("2026010203", "2026-01-02 03:00:00"),
        ("2026-01-02T03", "2026-01-02 03:00:00"),
        ("2026-01-02T03Z", "2026-01-02 03:00:00"),
        ("2026-01-02T03+05:30", "2026-01-01 21:30:00"),
        ("2026-01-02T03:04+05:30", "2026-01-01 21:34:00"),
        ("2026-01-02T03:04:05", "2026-01-02 03:04:05"),
    ],
)
def test_a_period_begins_with_the_first_second_of_a_shortened_time(text: str, begin: str) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    assert parse_since(text, now) == at(begin).replace(microsecond=0)


def test_a_fraction_of_a_second_is_kept() -> None:
    assert parse_time("2026-01-02T03:04:05.5Z") == datetime(2026, 1, 2, 3, 4, 5, 500_000, UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Fri, 02 Jan 2026 03:04:05 GMT",
        "Friday, 02-Jan-26 03:04:05 GMT",
        "Fri, 02 Jan 2026 03:04:05 -0000",
        "Fri, 02 Jan 2026 04:04:05 +0100",
    ],
)
def test_http_dates_are_read(text: str) -> None:
    assert parse_time(text) == at("2026-01-02 03:04:05")


@pytest.mark.parametrize(
    "text",
    [
        "", "20", "20260", "2026010", "0000", "202613", "202600", "20260230", "20260101240000",
        "202601020304050", "2026-1-2", "2026-13", "2026-02-30", "2023-0229", "-2026", "2026-", "--2026",
        "2026-W05", "2026W05", "2026-W05-3", "2026-W05-3T12:00:00Z",
        "²²²²", "now", "yesterday, please", ",", "Fri, 99 Jan 2026 03:04:05 GMT", "Fri Jan  2 03:04:05 2026",
        "9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+10:00",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused_with_examples_of_times(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time: write 2026, 2026-01-02"):
        parse_time(text)


def test_a_time_is_written_in_utc() -> None:
    there = timezone(timedelta(hours=5, minutes=30))
    assert timestamp(datetime(2026, 1, 2, 3, 4, 5, tzinfo=there)) == "20260101213405"


def test_an_early_year_has_four_digits_too() -> None:
    assert timestamp(datetime(987, 6, 5, 4, 3, 2, tzinfo=UTC)) == "09870605040302"


@given(st.datetimes(timezones=st.just(UTC)))
def test_fourteen_digits_are_read_back_as_the_end_of_their_second(when: datetime) -> None:
    written = timestamp(when)
    assert len(written) == 14
    assert parse_time(written) == when.replace(microsecond=999_999)


@given(st.datetimes(timezones=st.just(UTC)), st.integers(2, 6))
def test_every_prefix_of_a_time_ends_at_or_after_it(when: datetime, pairs: int) -> None:
    assert parse_time(timestamp(when)[: 2 * pairs]) >= when
