"""The fields that differ between two versions of a page."""

from __future__ import annotations

import json
from collections.abc import Sequence

from archivebot.models import Attribute, AttributeChange, Field


def edited(before: Sequence[Field], after: Sequence[Field]) -> tuple[AttributeChange, ...]:
    """Return the changes of the fields that both versions have; the selector of another one is new.

    A change is one of content if the field counts.

    >>> (change,) = edited([Field("price", "12")], [Field("price", "13.5"), Field("stock", "3")])
    >>> change.of, change.before, change.after, change.content
    ('price', '12', '13.5', True)
    """
    known = {field.name: field for field in before}
    return tuple(
        AttributeChange(Attribute.FIELD, field.name, shown(known[field.name]), shown(field), field.counts)
        for field in after
        if field.name in known and known[field.name].data != field.data
    )


def shown(field: Field) -> str:
    """Return the value of a field as text; a list or rows as JSON.

    >>> [shown(Field("a", data)) for data in ('"A tern"', "12", "null", '["a", 1]')]
    ['A tern', '12', '', '["a", 1]']
    """
    value = json.loads(field.data)
    return value if isinstance(value, str) else "" if value is None else field.data
