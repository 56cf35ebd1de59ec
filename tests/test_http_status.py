"""What an HTTP status means for an attempt to fetch a page."""

from __future__ import annotations

import pytest

from archivebot.http import outcome_of
from archivebot.models import Outcome


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, Outcome.FETCHED),
        (203, Outcome.FETCHED),
        (206, Outcome.FETCHED),
        (299, Outcome.FETCHED),
        (202, Outcome.ACCEPTED),
        (204, Outcome.NO_CONTENT),
        (205, Outcome.NO_CONTENT),
        (300, Outcome.REDIRECT),
        (301, Outcome.REDIRECT),
        (302, Outcome.REDIRECT),
        (304, Outcome.NOT_MODIFIED),
        (307, Outcome.REDIRECT),
        (308, Outcome.REDIRECT),
        (400, Outcome.CLIENT_ERROR),
        (401, Outcome.DENIED),
        (403, Outcome.DENIED),
        (404, Outcome.NOT_FOUND),
        (407, Outcome.DENIED),
        (408, Outcome.THROTTLED),
        (410, Outcome.GONE),
        (418, Outcome.CLIENT_ERROR),
        (425, Outcome.THROTTLED),
        (429, Outcome.THROTTLED),
        (451, Outcome.DENIED),
        (500, Outcome.SERVER_ERROR),
        (503, Outcome.SERVER_ERROR),
    ],
)
def test_status_with_a_body_has_its_outcome(status: int, outcome: Outcome) -> None:
    assert outcome_of(status, b"x") is outcome


@pytest.mark.parametrize("status", [-1, 0, 99, 100, 103, 199, 600, 999, 2000])
def test_what_is_no_final_http_status_is_a_protocol_error(status: int) -> None:
    assert outcome_of(status, b"x") is Outcome.PROTOCOL_ERROR


@pytest.mark.parametrize("status", [200, 203, 206])
def test_success_without_a_body_has_no_content(status: int) -> None:
    assert outcome_of(status, b"") is Outcome.NO_CONTENT


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(202, Outcome.ACCEPTED), (301, Outcome.REDIRECT), (404, Outcome.NOT_FOUND), (500, Outcome.SERVER_ERROR)],
)
def test_only_success_depends_on_the_body(status: int, outcome: Outcome) -> None:
    assert outcome_of(status, b"") is outcome
