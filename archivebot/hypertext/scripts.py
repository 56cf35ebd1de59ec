"""Links in scripts: addresses that a script opens, visits or writes, found without running it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import unquote


class Way(StrEnum):
    """The use of an address or of markup in a script."""

    OPEN = "window.open"
    GO = "location"
    WRITE = "document.write"


class Literal(NamedTuple):
    """A literal of a script: an address, or with WRITE markup that may hold addresses."""

    way: Way
    text: str


# Stands in written markup for values known only when the script runs.
UNKNOWN = "\ufffc"

# The word to search, the text that must follow it, and the objects that it may belong to; "" is none.
_WINDOWS = frozenset("window self top parent opener".split())
_FORMS = {
    "location": (
        Way.GO,
        re.compile(r"location\s*(?:(?:\.\s*href\s*)?=(?!=)|\.\s*(?:href\s*=(?!=)|(?:replace|assign)\s*\())"),
        _WINDOWS | {"document", ""},
    ),
    "open": (Way.OPEN, re.compile(r"open\s*\("), _WINDOWS),
    "write": (Way.WRITE, re.compile(r"write(?:ln)?\s*\("), frozenset(("document",))),
}

# The end of the attribute's name, as its start is now onclick, now onClick, and the bytes looked at from it.
_CLICK = b"lick="
_GLANCE = 400

# Characters before a word in which its object is searched.
_BEFORE = 40
_OWNER = re.compile(r"([\w$]{1,20})\s*\.\s*\Z")
_DECLARES = ("var", "let", "const")

_LITERAL = re.compile(
    r"""\s*(?: "((?:[^"\\\n]++|\\.)*+)" | '((?:[^'\\\n]++|\\.)*+)' | `((?:[^`\\$]++|\\.)*+)` )\s*""",
    re.DOTALL | re.VERBOSE,
)
_NAME = re.compile(r"\s*[\w$.]{1,80}(?:[(\[][^()\[\]'\"`\n]{0,80}[)\]][\w$.]{0,80}){0,4}\s*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_GOES_ON = frozenset("+.[%")  # the preceding literal is only a part of the address


def literals(script: str) -> Iterator[Literal]:
    """Yield the addresses and markup that a script opens, visits or writes as literals.

    Recognised are ``window.open("x")``, ``location = "x"`` with ``.href``, ``.replace()`` and ``.assign()``,
    and ``document.write("<a href=x>")``; no other string of the script. An address composed of several parts
    is left out; written markup is joined, with :data:`UNKNOWN` for what is not literal. Nothing is run. Time
    grows linearly with the length of the script.

    >>> [text for way, text in literals("window.open('x'); top.location.href = 'y'; a.open('z')")]
    ['x', 'y']
    >>> [found] = literals(r"document.write('<a href=\\"/b\\">' + name + '<\\/a>')")
    >>> found.way.value, found.text.replace(UNKNOWN, "?")
    ('document.write', '<a href="/b">?</a>')
    >>> list(literals("location = '/page?id=' + id")), list(literals(""))
    ([], [])
    """
    end = 0
    for at, word in sorted((at, name) for name in _FORMS for at in _places(script, name)):
        way, form, owners = _FORMS[word]
        if at < end or _owner(script, at) not in owners or not (match := form.match(script, at)):
            continue
        if way is Way.WRITE:
            text, end = _joined(script, match.end())
        else:
            text, end = _address(script, match.end())
        if text:
            yield Literal(way, text)


def leads_by_click(body: bytes) -> bool:
    """Return quickly whether a page may have an ``onclick`` with an address.

    >>> leads_by_click(b"<tr onClick='location.href=...'>"), leads_by_click(b"<p onclick='show(1)'>")
    (True, False)
    """
    at = body.find(_CLICK)
    while at >= 0:
        value = body[at : at + _GLANCE]
        if b"location" in value or b".open" in value or b".write" in value:
            return True
        at = body.find(_CLICK, at + _GLANCE)
    return False


def code_of(href: str) -> str | None:
    """Return the script of a ``javascript:`` address, or None for another address.

    >>> code_of(" JavaScript:window.open(%27/x%27)"), code_of("/javascript:x")
    ("window.open('/x')", None)
    """
    scheme, colon, code = href.lstrip().partition(":")
    return unquote(code) if colon and scheme.lower() == "javascript" else None


def _places(script: str, word: str) -> Iterator[int]:
    at = script.find(word)
    while at >= 0:
        yield at
        at = script.find(word, at + len(word))


def _owner(script: str, at: int) -> str | None:
    """Return the object whose member is at a position; "" for no object, None if no name starts there."""
    before = script[max(0, at - _BEFORE) : at]
    if before and (before[-1].isalnum() or before[-1] in "_$-"):
        return None
    before = before.rstrip()
    if before.endswith("."):
        match = _OWNER.search(before)
        return match[1] if match else None
    return None if before.endswith(_DECLARES) else ""


def _address(script: str, at: int) -> tuple[str, int]:
    """Return the literal at a position, if it is the whole address, and its end."""
    match = _LITERAL.match(script, at)
    if match is None:
        return "", at
    whole = script[match.end() : match.end() + 1] not in _GOES_ON
    return (_unescaped(match[match.lastindex or 1]) if whole else ""), match.end()


def _joined(script: str, at: int) -> tuple[str, int]:
    """Return the joined literals at a position, up to the first other token, and their end."""
    parts: list[str] = []
    while True:
        if match := _LITERAL.match(script, at):
            parts.append(_unescaped(match[match.lastindex or 1]))
        elif match := _NAME.match(script, at):
            parts.append(UNKNOWN)
        else:
            break
        at = match.end()
        if script[at : at + 1] not in ("+", ","):
            break
        at += 1
    return "".join(parts), at


def _unescaped(literal: str) -> str:
    return _ESCAPE.sub(_character, literal) if "\\" in literal else literal


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is None:
        return " " if match[3] in "nrtbfv0" else match[3].strip("\n")
    character = chr(int(code, 16))
    return character if character.isprintable() else " "
