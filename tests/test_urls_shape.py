"""Links are classed by the shape of their URL."""

from __future__ import annotations

import pytest

from archivebot.exceptions import UsageError
from archivebot.urls.shape import LEAST_HEADLINE, LinkClass, is_headline, link_class


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://sub.example.com/", LinkClass.CHANNEL),
        ("http://example.com", LinkClass.CHANNEL),
        ("http://example.com/news/", LinkClass.CHANNEL),
        ("http://example.com:8080/v1.2/news", LinkClass.CHANNEL),
        ("http://example.com/list?page=1.html", LinkClass.CHANNEL),
        ("http://example.com/a/b.html", LinkClass.CONTENT),
        ("http://example.com/a/B.SHTML?x=1", LinkClass.CONTENT),
        ("http://example.com/a/report.pdf", LinkClass.OUTSIDE),
        ("http://other.example/a/b.html", LinkClass.OUTSIDE),
        ("http://notexample.com/", LinkClass.OUTSIDE),
        ("http://example.com.other.example/", LinkClass.OUTSIDE),
        ("mailto:a@example.com", LinkClass.OUTSIDE),
    ],
)
def test_the_class_follows_from_host_and_path(url: str, expected: LinkClass) -> None:
    assert link_class(url, "example.com") is expected


def test_what_is_no_url_is_refused() -> None:
    with pytest.raises(UsageError):
        link_class("http://[/", "example.com")


def test_a_headline_has_at_least_eight_characters_and_is_no_name_of_a_channel() -> None:
    assert not is_headline("x" * (LEAST_HEADLINE - 1))
    assert is_headline("x" * LEAST_HEADLINE)
    assert is_headline("short", least=5)
    assert not is_headline("World news", channels={"World news"})
