"""Reads the forms of an HTML page from its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from lxml import etree

from archivebot.forms.flow import Flow, sending, text_of
from archivebot.forms.form import SUBMITS, Control, Form
from archivebot.forms.labels import attributes
from archivebot.forms.lexicon import meanings
from archivebot.forms.parsing import parse
from archivebot.markup.charset import codec

# Number of elements around a form that may indicate its purpose.
AROUND = 3

_OWNERS = (b"form=", b"form =", b"FORM=")


def read_forms(body: bytes, encoding: str) -> list[Form]:
    """Return the forms of a page in the order of the page, including forms without controls.

    Forms are found at their place in the markup, also in tables, where a browser would move them; a form
    within another is a separate form, one in a TEMPLATE is none. A control belongs to the first form with the
    id that its ``form`` attribute names. Any bytes and any name of an encoding are accepted. Time grows
    linearly with the length of the body.

    >>> (form,) = read_forms(b"<form action=/find>By <input name=by> in <select name=y></select></form>", "")
    >>> form.action, form.method, [(each.label, each.controls[0].kind) for each in form.attributes]
    ('/find', 'get', [('By', 'text'), ('in', 'select')])
    >>> read_forms(b"", "utf-8"), read_forms(b"\\0\\xff<", "no-charset")
    ([], [])
    """
    try:
        root = parse(body, encoding)
    except etree.LxmlError:  # an empty page
        return []
    if root is None:
        return []
    elsewhere = _elsewhere(root) if any(each in body for each in _OWNERS) else {}
    base = next(filter(None, (element.get("href") for element in root.iter("base"))), "")
    labels = _labels(root)
    forms = (element for element in root.iter("form") if not _is_inert(element))
    return [_form(element, elsewhere, labels, base) for element in forms]


def _is_inert(element: etree._Element) -> bool:
    """Return whether an element is part of a TEMPLATE, so that a browser does not show it."""
    return any("shadowrootmode" not in each.attrib for each in element.iterancestors("template"))


def _elsewhere(root: etree._Element) -> dict[str, list[etree._Element]]:
    """Return the controls outside their form, by the id of the form that they name."""
    found: dict[str, list[etree._Element]] = {}
    for element in root.xpath("//*[@form][self::input or self::select or self::textarea or self::button]"):
        ident = element.get("form")
        around = next(element.iterancestors("form"), None)
        if around is None or around.get("id") != ident:
            found.setdefault(ident, []).append(element)
    return found


def _labels(root: etree._Element) -> dict[str, str]:
    """Return the texts of LABELs outside of forms, by the ids of the controls that they are for."""
    found: dict[str, str] = {}
    for label in root.iter("label"):
        ident = (label.get("for") or "").strip()
        if ident and next(label.iterancestors("form"), None) is None and (text := text_of(label)):
            found.setdefault(ident, text)
    return found


def _form(
    element: etree._Element,
    elsewhere: dict[str, list[etree._Element]],
    labels: Mapping[str, str],
    base: str,
) -> Form:
    ident = (element.get("id") or "").strip()
    flow = Flow.read(element, elsewhere.pop(ident, []) if ident else [], labels)
    grouped, controls = attributes(flow)
    action, method, enctype = sending(element)
    controls, (action, method, enctype) = _sent(controls, (action, method or "get", enctype))
    accepted = (element.get("accept-charset") or "").replace(",", " ").split()
    return Form(
        name=(element.get("name") or ident).strip(),
        action=action,
        method=method,
        attributes=grouped,
        controls=controls,
        css=_css(element),
        role=(element.get("role") or "").strip().lower(),
        label=(element.get("aria-label") or "").strip(),
        around=_around(element),
        text="\n".join(item for item in flow.items if isinstance(item, str)),
        links="\n".join(flow.links),
        base=base,
        charset=next(filter(None, map(codec, accepted)), ""),
        enctype=enctype,
    )


def _sent(
    controls: tuple[Control, ...], own: tuple[str, str, str]
) -> tuple[tuple[Control, ...], tuple[str, ...]]:
    """Return the controls of a form with its default button marked, and where and how that sends the form.

    It is the first submit button that is not disabled and opens a page (HTML, "Implicit submission"), but one
    that says search goes first: in a form around a whole page the first one often logs in. Without a button
    the form says it itself.
    """
    submits = {
        at: tuple(a or b for a, b in zip(control.sends or own, own, strict=True))
        for at, control in enumerate(controls)
        if control.kind in SUBMITS
    }
    opening = [at for at, sends in submits.items() if sends[1] != "dialog" and not controls[at].unsent]
    default = next((at for at in opening if _says_search(controls[at])), next(iter(opening), None))
    named = any(controls[at].sends for at in submits)
    found = list(controls)
    for at, sends in submits.items():
        found[at] = replace(controls[at], checked=at == default, sends=sends if named else ())
    return tuple(found), own if default is None else submits[default]


def _says_search(button: Control) -> bool:
    said = " ".join((button.name, button.css, button.value, *button.hints))
    return "search" in meanings(said.lower())


def _around(element: etree._Element) -> tuple[str, ...]:
    names = []
    for outer in islice(element.iterancestors(), AROUND):
        if outer.tag in ("body", "html"):
            break
        names.append(f"{outer.get('role') or ''} {_css(outer)}".strip())
    return tuple(names)


def _css(element: etree._Element) -> str:
    return f"{element.get('id') or ''} {element.get('class') or ''}".strip()
