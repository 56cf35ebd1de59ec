"""The flow of a form: its texts and its controls in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import filterfalse, islice

from lxml import etree

from archivebot.forms.form import BUTTONS, MOST_TEXT, SUBMITS, TICKED, Control, shortened
from archivebot.markup.tags import LINES, MUTE

CONTROLS = frozenset(("input", "select", "textarea", "button"))

# Elements whose text is never the name of a field.
_MUTE = MUTE.union(("noscript", "object", "title"))

# Elements that separate their contents from the surrounding text.
_BLOCKS = LINES.union(("td",))

# An INPUT of an unknown type is a text box.
_TYPES = frozenset(
    """button checkbox color date datetime datetime-local email file hidden image month number password radio
    range reset search submit tel text time url week""".split()
)

_METHODS = ("post", "dialog")

_FIRST_BREAK = re.compile(r"\A(?:\r\n|\r|\n)")  # of a TEXTAREA; HTML parsers drop it, libxml2 does not

MOST_OPTIONS = 40  # of a SELECT: a list of all countries says no more than its beginning
MOST_EVENTS = 200  # starts and ends of elements looked at for one label
MOST_FIELDSETS = 32  # around a control: a hostile page has thousands
MOST_BEFORE = 100  # elements before a LEGEND that are looked at


@dataclass(slots=True, eq=False)
class Placed:
    """A control in its position.

    ``ident`` is the id that LABELs refer to, ``around`` the text of the LABEL around it, ``hint`` its own
    label, and ``title`` its title, which is used last.
    """

    control: Control
    ident: str = ""
    around: str = ""
    hint: str = ""
    title: str = ""


class Break(Enum):
    """The end of a line, or the boundary of a block, which separates fields."""

    LINE = 1
    BORDER = 2


Item = str | Placed | Break


@dataclass(slots=True)
class Flow:
    """The contents of a form.

    They are the ``items`` in order, the texts ``of`` LABELs by the ids they refer to, and the texts of the
    ``links``.
    """

    items: list[Item] = field(default_factory=list)
    of: dict[str, str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, form: etree._Element, elsewhere: list[etree._Element], labels: Mapping[str, str]) -> Flow:
        """Read a form and the controls elsewhere on the page that name it as theirs.

        A form within a form is skipped: its controls belong to the inner form. ``labels`` are the texts of
        LABELs outside of forms, by the ids they refer to; a LABEL of the form itself comes first.
        """
        flow = cls()
        flow._walk(form)
        for element in elsewhere:
            around = next(element.iterancestors("label"), None)
            flow.items.append(Break.BORDER)
            flow._control(element, "" if around is None else text_of(around))
        flow.of = {**labels, **flow.of}
        return flow

    def _walk(self, form: etree._Element) -> None:
        labels: list[str] = []
        own = form.get("id")
        walk = etree.iterwalk(form, ("start", "end"))
        for event, element in walk:
            tag = element.tag
            if event == "end":
                self._end(element, tag, labels)
                if element is not form:
                    self._text(element.tail)
                continue
            if tag in CONTROLS:
                if element.get("form", own) == own:
                    self._control(element, labels[-1] if labels else "")
                walk.skip_subtree()
            elif tag in _MUTE or (tag == "form" and element is not form):
                walk.skip_subtree()
            else:
                self._start(element, tag, labels)
                self._text(element.text)

    def _start(self, element: etree._Element, tag: str, labels: list[str]) -> None:
        if tag in _BLOCKS:
            self.items.append(Break.BORDER)
        elif tag == "br":
            self.items.append(Break.LINE)
        elif tag == "label":
            labels.append(label := text_of(element))
            if (ident := element.get("for")) and label:
                self.of.setdefault(ident.strip(), label)
        elif tag == "a":
            self.links.append(text_of(element))

    def _end(self, element: etree._Element, tag: str, labels: list[str]) -> None:
        if tag in _BLOCKS:
            self.items.append(Break.BORDER)
        elif tag == "label" and labels:
            labels.pop()

    def _text(self, text: str | None) -> None:
        if text and (text := " ".join(text[: 4 * MOST_TEXT].split())):
            self.items.append(text[:MOST_TEXT])

    def _control(self, element: etree._Element, around: str) -> None:
        hint = shortened(element.get("aria-label")) or shortened(element.get("placeholder"))
        ident = (element.get("id") or "").strip()
        self.items.append(Placed(control_of(element), ident, around, hint, shortened(element.get("title"))))


def control_of(element: etree._Element) -> Control:
    """Return the control of an element.

    >>> control_of(etree.fromstring('<input type="SEARCH" name="q" class="wide" placeholder="Title"/>'))
    ... # doctest: +NORMALIZE_WHITESPACE
    Control(kind='search', name='q', value='', label='', hints=('Title',), css=' wide', options=(),
            jumps=False)
    >>> control_of(etree.fromstring('<input type="serach"/>')).kind
    'text'
    >>> control_of(etree.fromstring('<button>Find <b>it</b></button>')).value
    'Find it'
    """
    tag = element.tag
    kind = _kind(element, tag)
    value = element.get("value", "on" if kind in TICKED else "")
    options: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    also: list[str] = []
    sends: tuple[str, ...] = ()
    unsent = _is_disabled(element)
    if tag == "select":
        chosen = _chosen(element)
        unsent = unsent or not chosen
        value, *also = chosen or [""]
        values = _values(element)
        options = tuple(map(text_of, islice(element.iter("option"), MOST_OPTIONS)))
    elif tag == "textarea":
        value = _FIRST_BREAK.sub("", "".join(element.itertext()))
    elif kind in BUTTONS:
        if kind in SUBMITS:
            # Browsers send the text that they show on an INPUT without a value.
            values = (element.get("value", "Submit" if tag == "input" else ""),)
            sends = sending(element, "form")
        value = (text_of(element) if tag == "button" else "") or shortened(value)
    hints = [element.get("placeholder"), element.get("aria-label"), element.get("title")]
    if kind in BUTTONS:
        hints += [element.get("alt"), *_images(element)]
    return Control(
        kind=kind,
        name=shortened(element.get("name")),
        value=value,
        hints=tuple(cut for hint in hints if (cut := shortened(hint))),
        css=f"{shortened(element.get('id'))} {shortened(element.get('class'))}".rstrip(),
        options=options,
        jumps=bool(element.get("onchange")),
        values=values,
        unsent=unsent,
        also=tuple(also),
        checked=kind in TICKED and "checked" in element.attrib,
        sends=sends if any(sends) else (),
    )


def sending(element: etree._Element, prefix: str = "") -> tuple[str, str, str]:
    """Return where and how a FORM, or with a prefix a button, sends: action, method, encoding, each or "".

    >>> sending(etree.fromstring('<button formaction=" /find" formmethod="PUT"/>'), "form")
    ('/find', 'get', '')
    """
    action, method, enctype = (
        (element.get(prefix + name) or "").strip() for name in ("action", "method", "enctype")
    )
    method = method.lower() if method.lower() in _METHODS else "get" if method else ""
    return action, method, enctype.lower()


def _is_disabled(element: etree._Element) -> bool:
    """Return whether a control is disabled, itself or by a FIELDSET around it.

    The first LEGEND of a FIELDSET is exempt. Source: HTML, "the fieldset element".
    """
    if "disabled" in element.attrib:
        return True
    legends = {legend.getparent(): legend for legend in element.iterancestors("legend")}
    around = islice(element.iterancestors("fieldset"), MOST_FIELDSETS)
    return any("disabled" in x.attrib and not (x in legends and _is_first(legends[x])) for x in around)


def _is_first(legend: etree._Element) -> bool:
    before = islice(legend.itersiblings(preceding=True), MOST_BEFORE)
    return all(sibling.tag != "legend" for sibling in before)


def _chosen(element: etree._Element) -> list[str]:
    """Return what a SELECT sends unless another option is chosen; only a multiple one sends several values.

    Source: HTML, "the select element".

    >>> _chosen(etree.fromstring('<select><option disabled="">Year</option><option>1998</option></select>'))
    ['1998']
    """
    options = list(element.iter("option"))
    chosen = [option for option in options if "selected" in option.attrib]
    if "multiple" not in element.attrib:
        chosen = chosen[-1:]
        if not chosen and (element.get("size") or "1").strip() in ("0", "1"):
            chosen = list(islice(filterfalse(_is_barred, options), 1))
    return [_sent(option) for option in chosen if not _is_barred(option)]


def _is_barred(option: etree._Element) -> bool:
    """Return whether an option is disabled, itself or by its group."""
    group = option.getparent()
    return "disabled" in option.attrib or (
        group is not None and group.tag == "optgroup" and "disabled" in group.attrib
    )


def _sent(option: etree._Element) -> str:
    """Return what an option sends: its value, or its text."""
    value = option.get("value")
    return " ".join("".join(option.itertext()).split()) if value is None else str(value)


def _values(element: etree._Element) -> tuple[str, ...]:
    """Return what a SELECT can send: the values of its options, or their texts; empty if there are too many.

    >>> _values(etree.fromstring('<select><option value="">any</option><option> New  </option></select>'))
    ('', 'New')
    """
    options = list(islice(element.iter("option"), MOST_OPTIONS + 1))
    if len(options) > MOST_OPTIONS:
        return ()
    return tuple(dict.fromkeys(map(_sent, options)))


def _kind(element: etree._Element, tag: str) -> str:
    if tag in ("select", "textarea"):
        return str(tag)
    given = (element.get("type") or "").strip().lower()
    if tag == "button":
        return given if given in ("button", "reset") else "submit"
    return given if given in _TYPES else "text"


def _images(element: etree._Element) -> Iterator[str | None]:
    """Yield the texts of the pictures of a button; for an address, the words of its file name."""
    source = element.get("src")
    if source:
        yield source.partition("?")[0].rpartition("/")[2]
    for image in element.iter("img"):
        yield image.get("alt")


def text_of(element: etree._Element) -> str:
    """Return the text of an element that can be a name, without scripts and controls.

    >>> text_of(etree.fromstring("<label>By <select><option>a</option></select> <b>year</b></label>"))
    'By year'
    """
    if next(element.iterchildren(), None) is None:  # len() counts all
        return shortened(element.text)
    pieces: list[str] = []
    walk = etree.iterwalk(element, ("start", "end"))
    for event, inner in islice(walk, MOST_EVENTS):
        text = None
        if event == "end":
            text = inner.tail if inner is not element else None
        elif inner is not element and (inner.tag in CONTROLS or inner.tag in _MUTE):
            walk.skip_subtree()
        else:
            text = inner.text
        if text:
            pieces.append(text[: 4 * MOST_TEXT])
    return shortened("".join(pieces))
