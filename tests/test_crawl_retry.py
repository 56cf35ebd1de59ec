"""Retries: bounded, later each time, as late as the server asks."""

import random
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from archivebot.crawl.retry import RetryPolicy, retry_after
from archivebot.models import Outcome
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html

POLICY = RetryPolicy(times=2, base=1.0, ceiling=3.0, longest=10.0)


def test_waits_double_up_to_the_ceiling_with_half_at_random() -> None:
    for attempt, longest in ((1, 1.0), (2, 2.0), (3, 3.0), (9, 3.0)):
        waits = [POLICY.backoff(attempt) for _ in range(50)]
        assert longest / 2 <= min(waits) < max(waits) <= longest


def test_tries_are_bounded() -> None:
    assert POLICY.wait(Outcome.TIMEOUT, 2) is not None
    assert POLICY.wait(Outcome.TIMEOUT, 3) is None


@pytest.mark.parametrize("outcome", list(Outcome))
def test_only_what_may_pass_is_tried_again(outcome: Outcome) -> None:
    passing = {"accepted", "throttled", "server_error", "timeout", "unreachable", "incomplete"}
    assert (POLICY.wait(outcome, 1) is not None) is (outcome.value in passing)


def test_retry_after_is_honoured_up_to_a_bound() -> None:
    assert POLICY.wait(Outcome.THROTTLED, 1, "5") == 5
    assert POLICY.wait(Outcome.THROTTLED, 1, "3600") == 10
    assert 0.5 <= (POLICY.wait(Outcome.THROTTLED, 1, "0") or 0) <= 1


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", "soon", "-5", "1.5", "²", "Wed, 99 Oct 2026 07:28:00 GMT"),
        "Wed, 21 Oct 99999999999999999999 07:28:00 GMT",
        "Wed, 21 Oct 2026 07:28:00 +9999999999",
        "Wed, 21 Oct 0001 07:28:00 +2359",
    ],
)
def test_an_unreadable_retry_after_asks_for_nothing(header: str | None) -> None:
    assert retry_after(header) == 0


def test_any_retry_after_asks_for_a_number_of_seconds() -> None:
    rng = random.Random(1)
    words = [
        "Wed,",
        "21",
        "Oct",
        "2026",
        "9" * 30,
        "07:28:00",
        "99:99:99",
        "GMT",
        "+0000",
        "-" + "9" * 12,
        "\x00",
    ]
    for _ in range(20_000):
        header = " ".join(rng.choices(words, k=rng.randint(1, 7)))
        assert retry_after(header) >= 0, header


def test_a_page_with_a_retry_after_beyond_all_dates_is_a_capture(site: MockServer, crawl: Crawl) -> None:
    beyond = ("Retry-After", "Wed, 21 Oct 99999999999999999999 07:28:00 GMT")
    site.routes["/"] = Reply(b"wait", 503, (beyond,))
    assert crawl(seeds=site.url()).of(site.url())["outcome"] == "server_error"


def test_retry_after_reads_dates() -> None:
    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    later = datetime(2026, 1, 1, 12, 1, 30, tzinfo=UTC)
    assert retry_after(format_datetime(later, usegmt=True), now) == 90
    assert retry_after(format_datetime(now, usegmt=True), later) == 0


@pytest.mark.long
def test_a_page_is_tried_until_it_answers_and_recorded_once(site: MockServer, crawl: Crawl) -> None:
    again = ("Retry-After", "1")
    site.routes |= {
        "/": html("/busy", "/later", "/down", "/accepted", "/never"),
        "/busy": [Reply(b"wait", 429, (again,)), html()],
        "/later": [Reply(b"wait", 503), html()],
        "/down": Reply(b"broken", 500),
        "/accepted": [Reply(b"soon", 202), html(text="ready")],
        "/never": Reply(b"soon", 202),
    }
    crawled = crawl(seeds=site.url())
    by_path = {record["url"].removeprefix(site.url()): record["outcome"] for record in crawled.records}
    assert by_path == {
        "": "fetched",
        "busy": "fetched",
        "later": "fetched",
        "down": "server_error",
        "accepted": "fetched",
        "never": "accepted",
    }
    assert len(crawled.records) == 6
    first, second = site.times("/busy")
    assert second - first >= 1
    assert len(site.times("/down")) == len(site.times("/never")) == 3
    assert crawled.of(site.url("/down"))["kind"] == "failed"
    assert crawled.stat("retry/server_error") == 3
