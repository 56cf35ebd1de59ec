"""The forms of sites as the documents of a MongoDB server, and back."""

from __future__ import annotations

from datetime import datetime

from archivebot.models import FoundForm
from archivebot.storage.base import KeptForm
from archivebot.storage.mongo.documents import Document, page_id
from archivebot.storage.times import milliseconds, moment


def form_id(site: str, signature: str) -> str:
    """Name a form of a site.

    >>> form_id("a.example", "0a") == form_id("a.example", "0b")
    False
    """
    return page_id(f"{site} {signature}")


def form_document(site: str, form: FoundForm) -> Document:
    """Write a form without what is said of it, which may change."""
    return {"site": site, "signature": form.signature}


def form_page_change(form: str, url: str, when: datetime) -> tuple[str, Document]:
    """Write that a page had a form: the name of the document, and what it changes."""
    time = milliseconds(when)
    told = {"$setOnInsert": {"form": form, "url": url}, "$min": {"first": time}, "$max": {"last": time}}
    return f"{form}-{page_id(url)}", told


def form_page_of(document: Document) -> tuple[str, datetime, datetime]:
    """Read a page that had a form, with its first and last time."""
    return document["url"], moment(document["first"]), moment(document["last"])


def form_of(document: Document, pages: list[Document]) -> KeptForm:
    """Read a form with the pages it was seen on."""
    seen = [form_page_of(page) for page in pages]
    url, first, _ = min(seen, key=lambda page: page[1])
    form = FoundForm(document["signature"], document["data"])
    return KeptForm(document["site"], form, first, max(last for *_, last in seen), url, len(seen))
