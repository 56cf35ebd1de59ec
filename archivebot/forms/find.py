"""Finds the forms of a page that search, each with its description."""

from __future__ import annotations

from archivebot.forms.classifier import FormClassifier
from archivebot.forms.domains import Domains
from archivebot.forms.reader import read_forms
from archivebot.forms.record import FormRecord


def search_forms(body: bytes, charset: str, url: str) -> list[FormRecord]:
    """Return the forms of a page that search, including simple search boxes, in order, each once.

    >>> page = b"<form action=/find>Author <input name=by> Title <input name=title><button>Search</button>"
    >>> [record.action for record in search_forms(page, "utf-8", "http://a.example/books/")]
    ['http://a.example/find']
    """
    classifier, domains = FormClassifier.shipped(), Domains.shipped()
    found: dict[str, FormRecord] = {}
    for form in read_forms(body, charset):
        decision = classifier.decide(form)
        if decision.search:
            record = FormRecord.of(form, decision, url, charset, domains.of(form).name or "")
            found.setdefault(record.signature, record)
    return list(found.values())
