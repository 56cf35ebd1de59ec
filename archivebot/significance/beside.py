"""The changes of a page beside its text: its title, the targets of links, its images."""

from __future__ import annotations

import re
from collections.abc import Sequence

from archivebot.models import Attribute, AttributeChange
from archivebot.significance.attributes import Pair, other_images, other_links
from archivebot.significance.quote import cut
from archivebot.significance.reading import Reading
from archivebot.significance.volatile import lasting

# The momentary part of a title, such as the number of unread messages: "(3) Inbox".
_COUNT = re.compile(r"^\(\d+\+?\)\s*|\s*\(\d+\+?\)$")

# Characters that a reason shows of each value.
SHOWN = 60


def beside(before: Reading, after: Reading) -> tuple[AttributeChange, ...]:
    """Return the changed title, links and images; links and images in order."""
    if before.shown is after.shown:
        return ()
    found = []
    then, now = before.full_title, after.full_title
    if then != now:
        lasts = _lasting(before.title) != _lasting(after.title)
        found.append(AttributeChange(Attribute.TITLE, "", then, now, lasts))
    found += _changes(Attribute.LINK, other_links(before.links, after.links), before, after)
    renamed, replaced = other_images(before.images, after.images)
    found += _changes(Attribute.ALT, renamed, before, after)
    found += _changes(Attribute.IMAGE, replaced, before, after)
    return tuple(found)


def _changes(
    attribute: Attribute, pairs: Sequence[Pair], before: Reading, after: Reading
) -> list[AttributeChange]:
    image = attribute is not Attribute.LINK
    return [
        AttributeChange(
            attribute,
            now.url if attribute is Attribute.ALT else now.text,
            then.text if attribute is Attribute.ALT else then.url,
            now.text if attribute is Attribute.ALT else now.url,
            before.in_content(then, image=image) and after.in_content(now, image=image),
        )
        for then, now in pairs
    ]


def _lasting(title: str) -> str:
    return _COUNT.sub("", lasting(title))


def described(change: AttributeChange) -> str:
    """Return a line that describes a change.

    >>> described(AttributeChange(Attribute.TITLE, "", "Terns", "Gulls", True))
    'title: [-Terns-]{+Gulls+}'
    """
    marks = ((("[-", "-]"), change.before), (("{+", "+}"), change.after))
    values = "".join(f"{left}{cut(value, SHOWN)}{right}" for (left, right), value in marks if value)
    of = f" {cut(change.of, SHOWN)}" if change.of else ""
    return f"{change.attribute.value}{of}: {values}"
