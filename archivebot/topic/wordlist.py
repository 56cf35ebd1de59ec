"""The words of a topic as a user writes them, each with its weight."""

from __future__ import annotations

import math

from archivebot.exceptions import UsageError


def weighted_words(text: str) -> dict[str, float]:
    """Read words with weights: commas part words and phrases; where there is no comma, spaces part words.

    A minus makes a word speak against the topic, a number after a colon is its weight, 1 without. Raises
    UsageError for a weight that is no finite number.

    >>> weighted_words("coral reef, diving:2, -casino,")
    {'coral reef': 1.0, 'diving': 2.0, 'casino': -1.0}
    >>> weighted_words("instructor hours -exam"), weighted_words("")
    ({'instructor': 1.0, 'hours': 1.0, 'exam': -1.0}, {})
    """
    parts = text.split(",") if "," in text else text.split()
    return dict(_weighted(part) for part in map(str.strip, parts) if part)


def _weighted(part: str) -> tuple[str, float]:
    word, _, number = part.lstrip("-").partition(":")
    try:
        weight = float(number.strip() or 1)
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise UsageError(f"the weight of {word.strip()!r} is {number!r}, which is no number")
    return word.strip(), -weight if part.startswith("-") else weight
