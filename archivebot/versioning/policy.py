"""The kind of a visit, and the level at which the page is cut next time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from archivebot.models import Kind, Outcome

GONE = frozenset({Outcome.NOT_FOUND, Outcome.GONE})
REFUSED = frozenset({Outcome.ROBOTS_DENIED, Outcome.EXCLUDED})

# Number of changes that decide on the level. With fewer, single redesigns would move it; with eight, a page
# that changes daily settles within two weeks.
WINDOW = 8

# Blocks change together if in every change of the window at least this share of them changed.
TOGETHER = 0.75

# A change is in a corner of large blocks if the changed blocks hold at least the first share of the page, and
# the new data in them, compressed, is less than the second share of them.
LARGE_BLOCK = 0.25
CORNER = 0.02

# Beyond this depth pages of news and policies gain no further cuts that a visitor would see: of 237
# pages, level 6 makes 1.1 times the blocks of level 5 and level 5 1.4 times those of level 4.
DEEPEST = 6


def kind_of(outcome: Outcome, digest: str | None, latest: str | None) -> Kind:
    """Return the kind of a visit, from the digests of its body and of the latest content before it.

    >>> kind_of(Outcome.FETCHED, "a", None), kind_of(Outcome.FETCHED, "b", "a")
    (<Kind.NEW: 'new'>, <Kind.CHANGED: 'changed'>)
    >>> kind_of(Outcome.FETCHED, "a", "a"), kind_of(Outcome.NOT_MODIFIED, None, "a")
    (<Kind.REVISIT: 'revisit'>, <Kind.REVISIT: 'revisit'>)
    >>> kind_of(Outcome.SERVER_ERROR, "x", "a"), kind_of(Outcome.NOT_FOUND, "x", "a")
    (<Kind.FAILED: 'failed'>, <Kind.GONE: 'gone'>)
    >>> kind_of(Outcome.NOT_FOUND, "x", None)
    <Kind.NOT_FOUND: 'not_found'>
    """
    if outcome is Outcome.FETCHED:
        if latest is None:
            return Kind.NEW
        return Kind.REVISIT if digest == latest else Kind.CHANGED
    if outcome is Outcome.NOT_MODIFIED and latest is not None:
        return Kind.REVISIT
    if outcome is Outcome.REDIRECT:
        return Kind.REDIRECT
    if outcome is Outcome.UNRESOLVED:
        return Kind.UNRESOLVED
    if outcome in GONE:
        return Kind.NOT_FOUND if latest is None else Kind.GONE
    return Kind.EXCLUDED if outcome in REFUSED else Kind.FAILED


@dataclass(frozen=True, slots=True)
class Step:
    """The difference of a version from the previous one: blocks and bytes of the page, and new ones."""

    level: int
    blocks: int
    new_blocks: int
    length: int
    new_bytes: int
    stored_bytes: int


def next_level(steps: Sequence[Step]) -> int | None:
    """Return the level for the next version, from the latest changes of a page, newest last.

    One level up if the blocks always change together, one level down if single large blocks change in a
    corner; None if there is too little history (the paper's LevelManager).

    >>> together = Step(level=3, blocks=10, new_blocks=9, length=9000, new_bytes=8000, stored_bytes=3000)
    >>> corner = Step(level=3, blocks=10, new_blocks=1, length=9000, new_bytes=4000, stored_bytes=60)
    >>> next_level([together] * 8), next_level([corner] * 8), next_level([corner] * 7 + [together])
    (2, 4, 3)
    >>> next_level([corner]) is None
    True
    """
    recent = steps[-WINDOW:]
    if not recent:
        return None
    level = recent[-1].level
    if len(recent) < WINDOW or any(step.level != level for step in recent):
        return level if len(steps) > 1 else None
    if level > 1 and all(step.new_blocks >= TOGETHER * step.blocks > 1 for step in recent):
        return level - 1
    if level < DEEPEST and all(_in_a_corner(step) for step in recent):
        return level + 1
    return level


def _in_a_corner(step: Step) -> bool:
    large = step.new_bytes >= LARGE_BLOCK * step.length
    return 0 < step.new_blocks <= 2 and large and step.stored_bytes < CORNER * step.new_bytes
