"""Parses the words of a topic, each with its weight."""

from __future__ import annotations

import math

from archivebot.exceptions import UsageError


def weighted_words(text: str) -> dict[str, float]:
    """Read words with weights, separated by commas (then also phrases), or without any comma by spaces.

    A word with a minus speaks against the topic; a number after a colon is the weight (default 1). Raises
    UsageError if a weight is not a finite number.

    >>> weighted_words("coral reef, diving:2, -casino,")
    {'coral reef': 1.0, 'diving': 2.0, 'casino': -1.0}
    >>> weighted_words("instructor hours -exam"), weighted_words("")
    ({'instructor': 1.0, 'hours': 1.0, 'exam': -1.0}, {})
    """
    parts = text.split(",") if "," in text else text.split()
    return dict(weighted(part) for part in map(str.strip, parts) if part)


def weighted(part: str) -> tuple[str, float]:
    """Return a word or a phrase and its weight. Raises UsageError if the weight is not a finite number.

    >>> weighted("coral reef:2"), weighted("-casino")
    (('coral reef', 2.0), ('casino', -1.0))
    """
    word, _, number = part.lstrip("-").partition(":")
    try:
        weight = float(number.strip() or 1)
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise UsageError(f"the weight of {word.strip()!r} is {number!r}, which is not a number")
    return word.strip(), -weight if part.startswith("-") else weight
