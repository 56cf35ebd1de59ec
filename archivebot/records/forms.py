"""Forms as JSON: stored forms, and the forms of a file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from archivebot.forms.classifier import Decision
from archivebot.forms.form import Form
from archivebot.forms.history import FormVersion
from archivebot.forms.record import names
from archivebot.timestamps import timestamp

# A page on which a form was seen, with its first and last time.
Seen = tuple[str, datetime, datetime]


def kept_form_record(form: FormVersion, seen: Iterable[Seen] | None = None) -> dict[str, Any]:
    """Return a stored form as a record, with the pages on which it was ``seen`` if given."""
    kept, record = form.kept, form.record
    data = {
        "id": form.id,
        "signature": record.signature,
        "site": kept.site,
        "version": form.version,
        "versions": form.versions,
        "method": record.method,
        "action": record.action,
        "search": record.decision.search,
        "multi_field": record.decision.multi_field,
        "domain": record.domain or None,
        "score": round(record.decision.score, 4),
        "reason": record.decision.reason,
        "fields": record.fields,
        "first": timestamp(kept.first),
        "last": timestamp(kept.last),
        "page": kept.page,
        "page_count": kept.pages,
    }
    if seen is not None:
        data["pages"] = [
            {"url": url, "first": timestamp(first), "last": timestamp(last)} for url, first, last in seen
        ]
    return data


def judged_form_record(form: Form, decision: Decision, domain: str | None) -> dict[str, Any]:
    """Return a form of a page with its classification as a record."""
    return {
        "search": decision.search,
        "score": round(decision.score, 4),
        "multi_field": decision.multi_field,
        "domain": domain,
        "reason": decision.reason,
        "fields": [
            {"label": attribute.label, "controls": names(attribute.controls)} for attribute in form.attributes
        ],
    }
