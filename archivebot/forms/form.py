"""A form as data: controls, attributes, and their surroundings."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from archivebot.urls import has_method, joined

# Controls to fill; all other controls send or reset the form, or are hidden.
TYPED = frozenset(
    """text search email tel url number password date datetime datetime-local month week time color range
    textarea""".split()
)
TICKED = frozenset(("radio", "checkbox"))
FILLED = TYPED | TICKED | {"select", "file"}
SUBMITS = frozenset(("submit", "image"))
BUTTONS = SUBMITS | {"button"}

_TOKEN = re.compile(r"[0-9a-f]{32,}")

MOST_TEXT = 300  # characters taken of one text, attribute or option


@dataclass(frozen=True, slots=True)
class Control:
    """One INPUT, SELECT, TEXTAREA or BUTTON.

    ``kind`` is the type of an INPUT, or "select", "textarea", and for a BUTTON its action; ``label`` is its
    visible name, ``hints`` its own texts, ``css`` its id and classes, ``options`` the texts of a SELECT,
    ``jumps`` whether a script acts on a change, and ``values`` all that a SELECT can send, empty if unknown.
    ``unsent`` is whether it is sent only if a value is given: it is disabled, or no option is chosen.
    ``also`` is what a multiple SELECT sends after ``value``: its further chosen options. ``cut`` is whether
    ``value`` and ``also`` are only the beginning of what stands on the page. ``checked`` is whether a
    check box or radio button is ticked, and whether a button is the default one of its form.

    The ``value`` of a button is its text, and what it sends is in ``values``. ``sends`` are the action, the
    method and the encoding with which a button sends the form; it is empty if all are those of the form.
    """

    kind: str
    name: str = ""
    value: str = ""
    label: str = ""
    hints: tuple[str, ...] = ()
    css: str = ""
    options: tuple[str, ...] = ()
    jumps: bool = False
    values: tuple[str, ...] = field(default=(), repr=False)
    unsent: bool = field(default=False, repr=False)
    also: tuple[str, ...] = field(default=(), repr=False)
    cut: bool = field(default=False, repr=False)
    checked: bool = field(default=False, repr=False)
    sends: tuple[str, ...] = field(default=(), repr=False)

    @property
    def typed(self) -> str:
        """The initial text of a text box, often in place of a label; that of a text area is none."""
        return shortened(self.value) if self.kind in TYPED and self.kind != "textarea" else ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """The counterpart of one field of the hidden database: a label with its controls.

    The author of a book may be a text box and three radio buttons beside it.
    """

    label: str
    controls: tuple[Control, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """F = (N, {A1 ... An}): the name of a form and its attributes, with more data on it.

    ``controls`` are all controls in the order of the page, ``text`` the text between them, ``links`` the
    texts of the links in it, ``css`` its id and classes, ``role`` and ``label`` its ARIA attributes,
    ``around`` the ids and classes of the elements around it, nearest first, ``base`` the BASE of the page,
    ``charset`` the codec that it declares for what is sent, empty if it is that of the page, ``enctype`` the
    encoding of a POST. The default button of the form may set its ``action``, ``method`` and ``enctype``.
    """

    name: str
    action: str
    method: str
    attributes: tuple[Attribute, ...]
    controls: tuple[Control, ...]
    css: str = ""
    role: str = ""
    label: str = ""
    around: tuple[str, ...] = ()
    text: str = field(default="", repr=False)
    links: str = field(default="", repr=False)
    base: str = field(default="", repr=False)
    charset: str = field(default="", repr=False)
    enctype: str = field(default="", repr=False)

    @property
    def questions(self) -> int:
        """The number of fields to fill: radio buttons and check boxes of one name are one field."""
        ticked = {(control.kind, control.name) for control in self.named(TICKED)}
        return len(ticked) + sum(1 for _ in self.named(FILLED - TICKED))

    def named(self, kinds: frozenset[str]) -> Iterator[Control]:
        """Yield the controls of some kinds."""
        return (control for control in self.controls if control.kind in kinds)

    def target(self, page: str, action: str | None = None) -> str:
        """Return the address that the form submits to; without an action it is that of the ``page``.

        With ``action`` it is the address that this action leads to.

        The answer to a POST is stored under a URL with what was sent, which is left out with the query.

        >>> Form("", "find", "get", (), (), base="/b/").target("http://a.example/c/")
        'http://a.example/b/find'
        >>> Form("", "", "post", (), ()).target("http://a.example/find?__wb_method=POST&by=x")
        'http://a.example/find'
        """
        page = page.partition("?")[0] if has_method(page) else page
        action = self.action if action is None else action
        base = joined(page, self.base) if action and self.base else None
        return joined(base or page, action) or action

    def signature(self, page: str = "") -> str:
        """Return the signature of the form, the same on every page.

        It is a digest of its method, the path of its target on the URL of its ``page``, and the sorted kinds
        and names of its controls, without hidden ones whose name is a token: Joomla makes a new one for each
        session.

        >>> controls = Control("text", "by"), Control("text", "of")
        >>> book = Form("book", "find.asp;id=7?x=1", "get", (), controls)
        >>> other = Form("", "/find.asp", "get", (), controls[::-1])
        >>> book.signature("http://a.example/") == other.signature("http://a.example/help/")
        True
        >>> other.signature() == Form("", "/find.asp", "post", (), controls).signature()
        False
        """
        path = _path(self.target(page)).partition(";")[0]
        named = sorted(
            [control.kind, control.name]
            for control in self.controls
            if control.name and not (control.kind == "hidden" and _TOKEN.fullmatch(control.name))
        )
        return hashlib.sha256(json.dumps([self.method, path, named]).encode()).hexdigest()


def shortened(text: str | None) -> str:
    """Return the first characters of a text, with single spaces.

    >>> shortened(" by\\n author"), shortened(None)
    ('by author', '')
    """
    return " ".join(text[: 4 * MOST_TEXT].split())[:MOST_TEXT] if text else ""


def _path(target: str) -> str:
    try:
        return urlsplit(target).path
    except ValueError:  # [ in place of a host
        return target
