"""The lines of a version in which only texts differ from an earlier version, without walking over its tree.

An edit is in one of the lines between the element opened last before it and the element opened next. That
line is written again if it is certain which one it is, and if its other measures stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import BOLD, Line, LineWalk, counted, keeps_names
from archivebot.markup.edits import Edits, TextEdit
from archivebot.markup.page import ParsedPage
from archivebot.text import collapse, pieces

Offsets = NDArray[np.int64]

# Charsets, as :func:`archivebot.markup.charset.codec` names them, in which an edit of ASCII characters is
# read as it is.
_ASCII = frozenset(("utf-8", "cp1252", "iso8859-15"))


def starts_of(walk: LineWalk, page: ParsedPage) -> Offsets | None:
    """Return the byte offset after the start tag of each element that holds lines, in order; 0 for the page.

    An element without a tag begins where the element before it does. Returns None if the offsets are not
    known, or if elements are not in the order of their tags.

    >>> page = ParsedPage.of("<p>één<ul><li>two")
    >>> starts_of(LineWalk(page.document), page).tolist()
    [0, 0, 0, 3, 12, 16]
    """
    if not page.is_exact:
        return None
    at, found = page.at, [0]
    for place in walk.places[1:]:
        if place.first < place.last:
            location = place.element.source_location if place.element is not None else None
            found.append(found[-1] if location is None else at(location.start_tag.end_offset))
    starts = np.array(found, dtype=np.int64)
    return starts if (np.diff(starts) >= 0).all() else None


def moved(starts: Offsets, edits: Edits) -> Offsets | None:
    """Return where offsets are after some edits; None if one is inside an edit."""
    if not edits.pieces:
        return starts
    begin, end, begins, ends = np.array(edits.pieces, dtype=np.int64).T
    at = np.searchsorted(begin, starts, side="right") - 1
    at_begin = (at >= 0) & (starts == begin[at])
    inside = (at >= 0) & ~at_begin & (starts < end[at])
    if inside.any():
        return None
    shift = np.where(at_begin, begins[at] - begin[at], ends[at] - end[at])
    return starts + np.where(at >= 0, shift, 0)


def rewritten(walk: LineWalk, starts: Offsets, edits: Edits, charset: str) -> LineWalk | None:
    """Return the lines of a later version, in the same elements; None if the edits do not show them.

    ``walk`` are the lines of the earlier version, without its elements, and ``starts`` their offsets.

    >>> from archivebot.markup.edits import edits
    >>> old, new = b"<p>Seen <b>12</b> times<p>12", b"<p>Seen <b>13</b> times<p>12"
    >>> page = ParsedPage(old, "utf-8")
    >>> walk = LineWalk(page.document)
    >>> starts = starts_of(walk, page)
    >>> walk.forget_elements()
    >>> [line.text for line in rewritten(walk, starts, edits(old, new), "utf-8").lines]
    ['Seen 13 times', '12']
    """
    if len(starts) != len(walk.places) or not all(map(keeps_names, edits.tags)):
        return None
    lines = list(walk.lines)
    for edit in edits.texts:
        if edit.code:
            continue
        before, after = _read(edit.before, charset), _read(edit.after, charset)
        at = _line(walk, lines, starts, edit, before)
        new = _edited(lines[at], edit, before, after) if at is not None else None
        if at is None or new is None:
            return None
        lines[at] = new
    return LineWalk.of(lines, walk.places)


def _read(text: str, charset: str) -> str:
    """Return a text that was read as Latin-1 in its charset; "" if that is not certain."""
    if "\0" in text or charset not in _ASCII:
        return ""
    if text.isascii():
        return text
    if charset != "utf-8" or "&" in text:
        return ""
    with suppress(UnicodeError):
        return text.encode("latin-1").decode()
    return ""


def _line(walk: LineWalk, lines: Sequence[Line], starts: Offsets, edit: TextEdit, before: str) -> int | None:
    """Return the line that contains the text of an edit; None if it may be none or another one."""
    shown = collapse(before)
    if not shown or not edit.is_read:
        return None
    at = int(np.searchsorted(starts, edit.start, side="right"))
    last = walk.places[at].first if at < len(starts) else len(lines)
    found = [index for index in range(walk.places[at - 1].first, last) if shown in lines[index].text]
    if len(found) != 1:
        return None
    text = lines[found[0]].text
    return found[0] if text.find(shown) == text.rfind(shown) else None


def _edited(line: Line, edit: TextEdit, before: str, after: str) -> Line | None:
    """Return a line with another text in the place of ``before``; None if its measures are not certain."""
    shown, old = collapse(after), collapse(before)
    is_whole = line.text == old
    same_ends = _ends(before) == _ends(after)
    if not shown or line.laid_out or line.place.preformatted or not (is_whole or same_ends):
        return None
    text = line.text.replace(old, shown)
    grown = len(after) - len(before)
    linked = _counted(line.linked, edit.linked, edit.tag == "a", line.text, text, grown, is_whole)
    bold = _counted(line.bold, True, edit.tag in BOLD, line.text, text, grown, is_whole)
    if linked is None or bold is None:
        return None
    return line._replace(text=text, words=counted(pieces(text), text), linked=linked, bold=bold)


def _counted(
    count: int, may_be: bool, is_inside: bool, before: str, after: str, grown: int, is_whole: bool
) -> int | None:
    """Return the characters of a line in links, or in bold type, after an edit; None if it is not certain.

    ``may_be`` and ``is_inside`` are whether the edit may be and whether it is in one.
    """
    if not count:
        return 0
    if is_whole and is_inside:
        return len(after)
    if count == len(before) or (may_be and not is_inside):  # blanks around a text may have been counted
        return None
    return min(count + grown * is_inside, len(after))


def _ends(text: str) -> tuple[bool, bool]:
    """Return whether a text begins and ends with a blank."""
    return not pieces(text[:1]), not pieces(text[-1:])
