"""Queries: the requests of a known form with given values."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from os.path import expanduser
from pathlib import Path
from urllib.parse import urlencode, urlsplit, urlunsplit

from archivebot.exceptions import UsageError
from archivebot.forms.form import BUTTONS, SUBMITS, TICKED, TYPED, Control
from archivebot.forms.record import FormRecord
from archivebot.markup.charset import is_wide, name_of
from archivebot.urls import canonical_url, target, with_method

URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_UNSENT = BUTTONS | {"reset", "file"}
_ONE_LINE = TYPED - {"textarea"}
_BREAK = re.compile(r"\r\n|\r|\n")


def read_grid(path: str) -> list[dict[str, str]]:
    """Read the values to fill in: a CSV file whose head names controls; each row is one query.

    Raises UsageError if there is no row, a control has two columns, or a row has another number of cells than
    the head.
    """
    try:
        with Path(expanduser(path)).open(encoding="utf-8-sig", newline="") as file:
            head, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            f"the grid {path!r} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error
    for name, count in Counter(head).items():
        if count > 1:
            raise UsageError(f"{path} has {count} columns {name!r}: a query has one value for each field")
    for number, row in enumerate(rows, 2):
        if len(row) != len(head):
            raise UsageError(f"{path}, row {number}: {len(row)} cells, and the head has {len(head)}")
    if not rows:
        raise UsageError(f"{path} has no row: the first line names the fields, each further one is a query")
    return [dict(zip(head, row, strict=True)) for row in rows]


@dataclass(frozen=True, slots=True)
class Query:
    """A query to a form: the ``url`` that is asked, and with POST the ``body`` and its ``content_type``.

    >>> Query("http://a.example/find", b"by=x").key
    'http://a.example/find?__wb_method=POST&by=x'
    """

    url: str
    body: bytes = b""
    method: str = "POST"
    content_type: str = URLENCODED

    @property
    def key(self) -> str:
        """The URL under which the answer is stored."""
        key = with_method(self.url, self.method, self.content_type, self.body)
        return key if key == self.url else canonical_url(key)


def queries(record: FormRecord, rows: Iterable[Mapping[str, str]]) -> Iterator[Query]:
    """Yield each query, as a browser would make it (HTML Standard, "Form submission", GET and POST).

    A control without a given value keeps the value of the page. Disabled controls and boxes that are not
    ticked on the page are sent only if given. One submit button is sent, and decides where the form leads:
    one that is given, else the default one. Raises UsageError if a value belongs to no control, if a
    selection list does not have it, or if only the beginning of a value of the page is known.

    >>> from archivebot.forms.classifier import Decision
    >>> from archivebot.forms.form import Control, Form
    >>> controls = Control("hidden", "db", "7"), Control("text", "by"), Control("checkbox", "old", "1")
    >>> form = Form("", "find?x=1", "get", (), controls)
    >>> record = FormRecord.of(form, Decision(True, 1.0, True, ""), "http://a.example/b/", "latin-1")
    >>> [query.key for query in queries(record, [{"by": "Åse & Co"}, {"by": "x", "old": "1"}])]
    ['http://a.example/b/find?db=7&by=%C5se+%26+Co', 'http://a.example/b/find?db=7&by=x&old=1']
    """
    own = (record.action, record.method, record.enctype)
    known = [control.name for control in record.controls if control.name]
    charset = _charset(record)
    for row in rows:
        for name in row:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"its fields are {', '.join(known)}"
                raise UsageError(f"the form has no field {name!r}: {hint}")
            _check_choice(record, name, row[name])
        button, value = _pressed(record, row)
        leads_to, method, enctype = (button and button.sends) or own
        _check_target(leads_to, method)
        pairs = list(_pairs(record, row, button, value))
        action = urlsplit(leads_to)._replace(fragment="")
        action = action._replace(path=action.path or "/")
        if method == "post":
            body, content_type = _encoded(pairs, enctype, charset)
            yield Query(urlunsplit(action), body, "POST", content_type)
        else:
            query = urlencode(pairs, encoding=charset, errors="xmlcharrefreplace")
            yield Query(urlunsplit(action._replace(query=query)), method="GET")


def _charset(record: FormRecord) -> str:
    """Return the charset of what is sent: not UTF-16 (HTML, "Picking an encoding for the form")."""
    return "utf-8" if is_wide(record.charset) else record.charset


def _check_target(action: str, method: str) -> None:
    """Raise UsageError if a form makes no request."""
    if method not in ("get", "post"):
        raise UsageError(f"the form sends {method.upper()}: only GET and POST are requests")
    if target(action, "") is None:
        raise UsageError(f"the form leads to {action!r}, which is no http URL")


def _pressed(record: FormRecord, row: Mapping[str, str]) -> tuple[Control | None, str]:
    """Return the submit button that a row names, else the default one, and its value.

    It is None if there is none, or if its cell is empty. A column that names a field names no button.
    """
    buttons = [each for each in record.controls if each.kind in SUBMITS]
    fields = {each.name for each in record.controls if each.kind not in SUBMITS}
    if given := [each for each in buttons if each.name in row and each.name not in fields]:
        filled = [each for each in given if row[each.name]]
        button = next((each for each in filled if row[each.name] in each.values), next(iter(filled), None))
        return button, row[button.name] if button else ""
    button = next((each for each in buttons if each.checked), None)
    return button, "".join(button.values) if button else ""


def _check_choice(record: FormRecord, name: str, value: str) -> None:
    """Raise UsageError if a field is a selection list without a value; nothing if its values are unknown."""
    controls = [control for control in record.controls if control.name == name]
    known = {choice for control in controls for choice in control.values}
    if value not in known and controls and all(each.kind == "select" and each.values for each in controls):
        near = get_close_matches(value, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(map(repr, sorted(known)))}"
        raise UsageError(f"the selection list {name!r} has no value {value!r}: {hint}")


def _encoded(pairs: Sequence[tuple[str, str]], enctype: str, charset: str) -> tuple[bytes, str]:
    """Return the body of a POST, and its content type.

    Source: HTML, "Multipart form data" and "Plain text form data".

    >>> _encoded([("by", "x"), ("of", "y")], "text/plain", "utf-8")
    (b'by=x\\r\\nof=y\\r\\n', 'text/plain')
    """
    query = urlencode(pairs, encoding=charset, errors="xmlcharrefreplace").encode("ascii")
    if enctype == MULTIPART:
        boundary = sha256(query).hexdigest()[:16]
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="'
        parts = [head + name.replace('"', "%22") + f'"\r\n\r\n{value}\r\n' for name, value in pairs]
        text, content_type = "".join((*parts, f"--{boundary}--\r\n")), f"{MULTIPART}; boundary={boundary}"
    elif enctype == "text/plain":
        text, content_type = "".join(f"{name}={value}\r\n" for name, value in pairs), enctype
    else:
        return query, URLENCODED
    return text.encode(charset, "xmlcharrefreplace"), content_type


def _pairs(
    record: FormRecord, row: Mapping[str, str], button: Control | None, pressed: str
) -> Iterator[tuple[str, str]]:
    """Yield the names and values to send, in the order of the page, each given value once."""
    sent = set()
    boxes = [each for each in record.controls if each.kind in TICKED]
    unticked = {each.name for each in boxes if row.get(each.name) == ""}
    unticked -= {each.name for each in boxes if not each.value}
    radios = {each.name: each for each in record.controls if each.kind == "radio" and each.checked}
    for control in record.controls:
        name = control.name
        if control.kind in SUBMITS:
            if control is button:
                yield from _of_button(button, pressed)
            continue
        if name in unticked and control.kind in TICKED:
            continue
        if name in row and name not in unticked:
            if name not in sent:
                yield name, _as_sent(control, row[name])
            sent.add(name)
        elif _is_sent(control, radios):
            for value in _values(control, record):
                yield name, value


def _values(control: Control, record: FormRecord) -> list[str]:
    """Return what a control sends as it is on the page. Raises UsageError if it is not known."""
    if control.cut:
        raise UsageError(
            f"only the beginning of the value of {control.name!r} is stored with the form, and the archive"
            " lacks the page with the form: crawl the page again, or give a value"
        )
    if control.kind == "hidden" and control.name.lower() == "_charset_":
        return [name_of(_charset(record))]
    return [_as_sent(control, value) for value in (control.value, *control.also)]


def _of_button(button: Control, value: str) -> Iterator[tuple[str, str]]:
    """Yield what a button sends; an image sends the position of the click, as of one without a mouse."""
    if button.kind == "image":
        prefix = f"{button.name}." if button.name else ""
        yield from ((f"{prefix}x", "0"), (f"{prefix}y", "0"))
    elif button.name:
        yield button.name, value


def _is_sent(control: Control, radios: Mapping[str, Control]) -> bool:
    """Return whether a browser sends a control as it is on the page.

    ``radios`` are the ticked radio buttons by their names: of several, the last one stays ticked.
    """
    if not control.name or control.unsent or control.kind in _UNSENT:
        return False
    if control.kind == "radio":
        return radios.get(control.name) is control
    return control.checked or control.kind not in TICKED


def _as_sent(control: Control, value: str) -> str:
    """Return a value with the line breaks that a browser sends: none from a box of one line.

    Source: HTML, "Value sanitization algorithm" and "Constructing the entry list".

    >>> _as_sent(Control("textarea"), "a\\nb"), _as_sent(Control("text"), "a\\nb")
    ('a\\r\\nb', 'ab')
    """
    return _BREAK.sub("" if control.kind in _ONE_LINE else "\r\n", value)
