"""Finds the forms of a page that search, each with its description."""

from __future__ import annotations

import re

from archivebot.forms.classifier import FormClassifier
from archivebot.forms.domains import Domains
from archivebot.forms.reader import read_forms
from archivebot.forms.record import FormRecord

_SCRIPT = re.compile(r"[\x00-\x20]*j\s*a\s*v\s*a\s*s\s*c\s*r\s*i\s*p\s*t\s*:", re.IGNORECASE)


def search_forms(body: bytes, charset: str, url: str) -> list[FormRecord]:
    """Return the forms of a page that search, including simple search boxes, in order, each once.

    A form whose action is a script, or which closes a dialog, has no answers with a URL, and is left out.

    >>> page = b"<form action=/find>Author <input name=by> Title <input name=title><button>Search</button>"
    >>> [record.action for record in search_forms(page, "utf-8", "http://a.example/books/")]
    ['http://a.example/find']
    """
    classifier, domains = FormClassifier.shipped(), Domains.shipped()
    found: dict[str, FormRecord] = {}
    for form in read_forms(body, charset):
        if form.method == "dialog" or _SCRIPT.match(form.action):
            continue
        decision = classifier.decide(form)
        if decision.search:
            record = FormRecord.of(form, decision, url, charset, domains.of(form).name or "")
            found.setdefault(record.signature, record)
    return list(found.values())
