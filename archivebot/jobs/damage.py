"""What a job does with a page that cannot be read."""

from __future__ import annotations

from collections.abc import Callable

from archivebot.exceptions import CorruptObject

# Gets the URL of the page, or "a page" if that cannot be read, and the error.
Damaged = Callable[[str, CorruptObject], None]


def fail(url: str, error: CorruptObject) -> None:
    """Raise the error of a page, instead of leaving the page out."""
    raise error


def leave_out(url: str, error: CorruptObject) -> None:
    """Leave a page out without a word: ``scrapy verify`` reports it."""
