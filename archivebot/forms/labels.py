"""Labels: the visible names of controls, and the controls that form one attribute."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from archivebot.forms.flow import Break, Flow, Item, Placed
from archivebot.forms.form import FILLED, TICKED, Attribute, Control

# A longer line before a control is not its name but a sentence about the form.
MOST_LABEL = 80

# The texts between the two ends of a range, or the parts of a date.
_LINKING = re.compile(r"(?:[-–—~/.:,至到]|to|and|bis|und|à|a|et|al?|y|e|até|do|по|до)?", re.IGNORECASE)

# Words of a name that distinguish the parts of one field.
_PARTS = frozenset(
    """from to min max start end begin low high lower upper day month year hour minute d m y dd mm yy yyyy von
    bis ab""".split()
)
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@dataclass(slots=True)
class _Group:
    before: str
    controls: list[Control] = field(default_factory=list)

    def attribute(self) -> Attribute:
        first = self.controls[0]
        label = first.label
        if first.kind in TICKED and len(self.controls) > 1:
            label = self.before or label
        return Attribute(label, tuple(self.controls))


def attributes(flow: Flow) -> tuple[tuple[Attribute, ...], tuple[Control, ...]]:
    """Return the attributes of a form, and all its controls with their labels.

    The label of a control is the first that exists: a LABEL for it, a LABEL around it, its ``aria-label``,
    its ``placeholder``, the text after a radio button or a check box, the line before any other, its title,
    the value that a text box begins with. The label of several radio buttons or check boxes of one attribute
    is the line before the first.

    These form one attribute: radio buttons and check boxes of one name; radio buttons and check boxes that
    follow another control in the same block without a word between; the parts of a date or a range.
    """
    groups: list[_Group] = []
    of_name: dict[str, _Group] = {}  # of radio buttons and check boxes
    controls: list[Control] = []
    since = 0  # the index after the previous control
    for at, item in enumerate(flow.items):
        if not isinstance(item, Placed):
            continue
        control = item.control
        if control.kind in FILLED:
            gap = flow.items[since:at]
            before = _before(gap, bool(controls) and _takes_after(flow, since))
            control = replace(control, label=_label(flow, at, item, before))
            group = _group(groups, of_name, control, gap)
            if group is None:
                groups.append(group := _Group(before))
            group.controls.append(control)
            if control.kind in TICKED and control.name:
                of_name.setdefault(control.name, group)
        controls.append(control)
        since = at + 1
    return tuple(group.attribute() for group in groups), tuple(controls)


def _group(
    groups: list[_Group], of_name: dict[str, _Group], control: Control, gap: Sequence[Item]
) -> _Group | None:
    """Return the group that a control belongs to, if there is one."""
    if control.kind in TICKED and control.name in of_name:
        return of_name[control.name]
    if not groups or Break.BORDER in gap:
        return None
    last = groups[-1]
    between = "".join(item for item in gap if isinstance(item, str))
    if control.kind in TICKED:
        return last if not between and last.controls[0].kind not in TICKED else None
    if _LINKING.fullmatch(between) and _whole(control.name) & _whole(last.controls[-1].name):
        return last
    return None


def _whole(name: str) -> frozenset[str]:
    """Return the words of a name of a part, without the words for the part itself.

    >>> sorted(_whole("priceFrom")), sorted(_whole("dep_day")), sorted(_whole("price"))
    (['price'], ['dep'], [])
    """
    pieces = [piece.lower() for piece in _PIECES.findall(name)]
    whole = frozenset(piece for piece in pieces if piece not in _PARTS and not piece.isdigit())
    return whole if len(whole) < len(pieces) else frozenset()


def _label(flow: Flow, at: int, placed: Placed, before: str) -> str:
    kind = placed.control.kind
    beside = _after(flow.items, at + 1) if kind in TICKED else before
    typed = placed.control.typed
    for label in (flow.of.get(placed.ident), placed.around, placed.hint, beside, placed.title, typed):
        if label and (label := tidy(label)):
            return label
    return ""


def _takes_after(flow: Flow, since: int) -> bool:
    """Return whether the text after the previous control is its label."""
    placed = flow.items[since - 1]
    return (
        isinstance(placed, Placed)
        and placed.control.kind in TICKED
        and not (flow.of.get(placed.ident) or placed.around or placed.hint)
    )


def _after(items: Sequence[Item], start: int) -> str:
    """Return the text up to the next control or the end of the line."""
    pieces = []
    for at in range(start, len(items)):
        item = items[at]
        if not isinstance(item, str):
            break
        pieces.append(item)
    return " ".join(pieces)


def _before(gap: Sequence[Item], taken: bool) -> str:
    """Return the last line with words before a control.

    If ``taken``, the first line belongs to the previous control.
    """
    lines: list[list[str]] = [[]]
    for item in gap:
        if isinstance(item, Break):
            lines.append([])
        elif isinstance(item, str):
            lines[-1].append(item)
    for line in reversed(lines[1:] if taken else lines):
        if label_text := tidy(" ".join(line)):
            return label_text if len(label_text) <= MOST_LABEL else ""
    return ""


def tidy(label: str) -> str:
    """Return a label without punctuation at its ends.

    >>> tidy("* Last name (s):"), tidy(" » "), tidy("出发城市：")
    ('Last name (s)', '', '出发城市')
    """
    return label.strip(" \t\n\xa0:*：»«|,;>-–—…")
