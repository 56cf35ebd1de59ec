"""What a version keeps of a fields file: its fields, and the selectors by which its changes were judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from archivebot.fields.sites import Site
from archivebot.models import Field

# The names of the notes that are not fields: a name of a field begins with a letter.
_IGNORE, _WATCH = ":ignore", ":watch"

Note = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """The fields of a version (None if it was stored without a fields file), and the selectors of parts.

    >>> kept = Kept((Field("price", "12"),), ignore=(".ad",))
    >>> kept.notes
    [('price', '12'), (':ignore', '[".ad"]')]
    >>> Kept.of(kept.notes) == kept, Kept.of([])
    (True, Kept(fields=None, ignore=(), watch=()))
    """

    fields: tuple[Field, ...] | None = None
    ignore: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()

    @classmethod
    def of(cls, notes: Iterable[Note]) -> Self:
        """Return what the notes of a version hold."""
        held = dict(notes)
        ignore, watch = (tuple(json.loads(held.pop(name, "[]"))) for name in (_IGNORE, _WATCH))
        return cls(tuple(Field(name, data) for name, data in held.items()) or None, ignore, watch)

    @classmethod
    def by(cls, site: Site | None, fields: Sequence[Field] | None) -> Self:
        """Return what a version with these fields keeps of the selectors of its site."""
        return cls(tuple(fields or ()) or None, site.ignore if site else (), site.watch if site else ())

    @property
    def notes(self) -> list[Note]:
        """The notes: a name and JSON each."""
        parts = ((_IGNORE, self.ignore), (_WATCH, self.watch))
        return [
            *((field.name, field.data) for field in self.fields or ()),
            *((name, json.dumps(selectors)) for name, selectors in parts if selectors),
        ]
