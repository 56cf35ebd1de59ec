"""Whether two versions of a page differ in content or only in furniture, and the line that shows it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from archivebot.config import CONTENT_ATTRIBUTES
from archivebot.models import ChangeKind
from archivebot.significance.beside import beside, described
from archivebot.significance.edits import in_place, only_numbers
from archivebot.significance.habits import MOST_VERSIONS, Habits, Lines, may_count
from archivebot.significance.linediff import changed
from archivebot.significance.quote import quoted
from archivebot.significance.reading import Reading, Starts
from archivebot.significance.volatile import in_another_zone, is_date, is_volatile, lasting
from archivebot.significance.worth import Worth

# Number of earlier versions after which no more are read if an added line was in none of them, or a removed
# line in all: three alternating texts are still recognised, and a page with new content at every visit costs
# two more readings instead of eight.
FEW = 2

SAME_TEXT = "the same text in other markup"

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Significance:
    """The kind of a change, and the reason.

    ``removed`` and ``added`` are the positions of changed lines of content, in order: bytes of the body
    before, and of the body after.
    """

    kind: ChangeKind
    reason: str
    removed: Sequence[int] = field(default=(), repr=False, compare=False)
    added: Sequence[int] = field(default=(), repr=False, compare=False)

    def of_block(self, before: Range | None, after: Range | None) -> ChangeKind:
        """Return the kind of the change of one block, by its bytes [start, end) in both bodies.

        One of the two is None for a block that was added or removed.

        >>> change = Significance(ChangeKind.CONTENT, "+ A tern", added=(40,))
        >>> change.of_block((0, 9), (30, 90)).value, change.of_block(None, (90, 99)).value
        ('content', 'furniture')
        """
        found = _within(self.removed, before) or _within(self.added, after)
        return ChangeKind.CONTENT if found else ChangeKind.FURNITURE


def _within(starts: Sequence[int], block: Range | None) -> bool:
    return block is not None and bisect_left(starts, block[0]) < bisect_left(starts, block[1])


def significance(
    before: Reading,
    after: Reading,
    history: Iterable[Lines] = (),
    counted: Collection[str] = CONTENT_ATTRIBUTES,
) -> Significance:
    """Return whether the content of a page changed from one version to the next, or only its furniture.

    The content changed if a line of the main text, or of running text elsewhere, was added, removed, edited
    or moved, or if a line outside menus, head and foot was edited in place. Volatile lines (relative times,
    clocks, counters) do not count, nor do dates that all move by a day. The title shown beside the main text
    counts if the title element changed. ``history`` yields the lines of earlier versions, the latest first,
    without ``before``; up to eight of them show which lines come and go, or are counters. It is read only if
    content seems to have changed, and as far as needed. Beside the text, the attributes that are ``counted``
    are content.

    >>> pages = [b"<nav>%d</nav><p>" % n + b"A tern dives for fish. " * 9 for n in range(2)]
    >>> significance(*map(Reading, pages))
    Significance(kind=<ChangeKind.FURNITURE: 'furniture'>, reason='only furniture: [-0-]{+1+}')
    """
    found = _of_text(before, after, history)
    if found.kind is ChangeKind.CONTENT:
        return found
    others = beside(before, after)
    decisive = next((each for each in others if each.content and each.attribute in counted), None)
    if decisive is not None:
        return Significance(ChangeKind.CONTENT, described(decisive))
    if others and before.lines == after.lines:
        return Significance(ChangeKind.FURNITURE, f"the same text, but for {described(others[0])}")
    return found


def _of_text(before: Reading, after: Reading, history: Iterable[Lines]) -> Significance:
    """Return whether the text changed in content."""
    removed, added = changed(before.lines, after.lines)
    if not removed and not added:
        return Significance(ChangeKind.FURNITURE, SAME_TEXT)
    least = Worth.LIGHT if before.title == after.title else Worth.TITLE
    edits = {new: old for old, new in in_place(before.lines, removed, after.lines, added)}
    weighty = [(then, now) for now, then in edits.items() if _counts(before, after, then, now)]
    old = {*(i for i in removed if before.worth[i] >= least), *(then for then, _ in weighty)}
    new = {*(i for i in added if after.worth[i] >= least), *(now for _, now in weighty)}
    for now, then in edits.items():
        if _is_of_the_visit(before.lines[then], after.lines[now]):
            old.discard(then)
            new.discard(now)
    if not old and not new:
        shown = quoted(before.lines, removed, after.lines, added[:1], edits)
        return Significance(ChangeKind.FURNITURE, f"only furniture: {shown}")
    still = changed(_lasting(before.lines, removed), _lasting(after.lines, added))
    left, come = sorted(old.intersection(still[0])), sorted(new.intersection(still[1]))
    left, come = _in_one_zone(before, left, after, come)
    if not left and not come:
        return Significance(ChangeKind.FURNITURE, "only times, dates and counts as of the visit")
    habits = _habits(before, left, after, come, history)
    if habits is not None:
        left = [index for index in left if not _is_habit(habits, before, index)]
        come = [index for index in come if not _is_habit(habits, after, index)]
        if not left and not come:
            return Significance(ChangeKind.FURNITURE, "only lines that come and go or count")
    return Significance(
        ChangeKind.CONTENT,
        quoted(before.lines, left, after.lines, _foremost(after, come), edits),
        Starts(before, left),
        Starts(after, come),
    )


def _foremost(page: Reading, lines: list[int]) -> list[int]:
    """Return the lines that are surest to be content, if there are any that are content themselves."""
    most = max((page.worth[index] for index in lines), default=Worth.FURNITURE)
    return [index for index in lines if page.worth[index] == most] if most >= Worth.LIGHT else lines


def _counts(before: Reading, after: Reading, old: int, new: int) -> bool:
    """Return whether the edit of a line is a change of content."""
    then, now = before.lines[old], after.lines[new]
    if is_volatile(then) or is_volatile(now) or (is_date(then) and is_date(now)):
        return False
    least = Worth.NUMBERS if only_numbers(then, now) else Worth.WORDS
    return max(before.worth[old], after.worth[new]) >= least


def _habits(
    before: Reading, old: Sequence[int], after: Reading, new: Sequence[int], history: Iterable[Lines]
) -> Habits | None:
    """Read the earlier versions; return None if two of them show that a line has no habit."""
    earlier: list[Lines] = []
    came = {after.lines[index] for index in new if not _may_count(after, index)}
    went = {before.lines[index] for index in old if not _may_count(before, index)}
    for lines in islice(history, MOST_VERSIONS):
        earlier.append(lines)
        if len(earlier) == FEW and (came.difference(*earlier) or went.intersection(*earlier)):
            return None
    return Habits([*reversed(earlier), before.lines]) if earlier else None


def _may_count(page: Reading, index: int) -> bool:
    return page.worth[index] < Worth.FIRM and may_count(page.lines[index])


def _is_habit(habits: Habits, page: Reading, index: int) -> bool:
    line = page.lines[index]
    return habits.alternates(line) or (_may_count(page, index) and habits.counts(line))


def _is_of_the_visit(then: str, now: str) -> bool:
    """Return whether an edited line is a relative time or a time of day in one version, or a date instead."""
    volatile = is_volatile(then), is_volatile(now)
    return all(volatile) or (any(volatile) and (is_date(then) or is_date(now)))


def _lasting(lines: Lines, places: Iterable[int]) -> Lines:
    """Return lines, the changed ones without relative times, counters and spaces."""
    found = list(lines)
    for index in places:
        found[index] = lasting(found[index])
    return found


def _in_one_zone(
    before: Reading, old: list[int], after: Reading, new: list[int]
) -> tuple[list[int], list[int]]:
    """Return the changed lines without dates that another time zone moved."""
    dates = [[i for i in each if is_date(page.lines[i])] for page, each in ((before, old), (after, new))]
    if in_another_zone([before.lines[i] for i in dates[0]], [after.lines[i] for i in dates[1]]):
        old_dates, new_dates = map(set, dates)
        old = [index for index in old if index not in old_dates]
        new = [index for index in new if index not in new_dates]
    return old, new
