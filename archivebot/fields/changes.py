"""The fields that differ between two versions of a page."""

from __future__ import annotations

import json
from collections.abc import Sequence

from archivebot.fields.about import SUMMARY
from archivebot.models import Attribute, AttributeChange, Field
from archivebot.text import composed


def edited(before: Sequence[Field], after: Sequence[Field]) -> tuple[AttributeChange, ...]:
    """Return the changes of the fields that both versions have; the selector of another one is new.

    A change is one of content if the field counts. Of two lists the entries that only one has are shown. The
    summary of a page is left out: its text is compared as the text of the page.

    >>> (change,) = edited([Field("price", "12")], [Field("price", "13.5"), Field("stock", "3")])
    >>> change.of, change.before, change.after, change.content
    ('price', '12', '13.5', True)
    >>> [(each.before, each.after) for each in edited([Field("a", "[1, 2]")], [Field("a", "[1, 3]")])]
    [('[2]', '[3]')]
    """
    known = {field.name: field for field in before}
    return tuple(
        AttributeChange(Attribute.FIELD, field.name, *_values(known[field.name], field), field.counts)
        for field in after
        if field.name in known and composed(known[field.name].data) != composed(field.data)
        if field.counts or field.name != SUMMARY
    )


def _values(before: Field, after: Field) -> tuple[str, str]:
    lists = [json.loads(field.data) for field in (before, after)]
    if not all(isinstance(each, list) for each in lists):
        return shown(before), shown(after)
    old, new = ([json.dumps(entry, ensure_ascii=False) for entry in each] for each in lists)
    gone, come = _without(old, new), _without(new, old)
    return (_list(gone), _list(come)) if gone or come else (before.data, after.data)


def _without(entries: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(map(composed, others))
    return [entry for entry in entries if composed(entry) not in known]


def _list(entries: Sequence[str]) -> str:
    return f"[{', '.join(entries)}]" if entries else ""


def shown(field: Field) -> str:
    """Return the value of a field as text; a list or rows as JSON.

    >>> [shown(Field("a", data)) for data in ('"A tern"', "12", "null", '["a", 1]')]
    ['A tern', '12', '', '["a", 1]']
    """
    return _text(json.loads(field.data))


def entries(field: Field) -> list[str] | None:
    """Return the entries of a list as texts; None if a field is no list.

    >>> entries(Field("a", '["a", 1]')), entries(Field("a", "1"))
    (['a', '1'], None)
    """
    value = json.loads(field.data)
    return [_text(entry) for entry in value] if isinstance(value, list) else None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
