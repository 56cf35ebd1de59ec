"""What a version keeps of a fields file: its fields, and the selectors by which its changes were judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from archivebot.fields.sites import Site
from archivebot.models import Field

# The names of the notes that are not fields, and what comes before the name of a field that does not count: a
# name of a field begins with a letter.
_IGNORE, _WATCH = ":ignore", ":watch"
_LIGHT = "~"

Note = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """The fields of a version, and the selectors of ignored and watched parts.

    >>> kept = Kept((Field("price", "12"), Field("visits", "7", counts=False)), ignore=(".ad",))
    >>> kept.notes
    [('price', '12'), ('~visits', '7'), (':ignore', '[".ad"]')]
    >>> Kept.of(kept.notes) == kept
    True
    """

    fields: tuple[Field, ...] = ()
    ignore: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()

    @classmethod
    def of(cls, notes: Iterable[Note]) -> Self:
        """Return what the notes of a version hold."""
        held = dict(notes)
        ignore, watch = (tuple(json.loads(held.pop(name, "[]"))) for name in (_IGNORE, _WATCH))
        fields = (
            Field(name.removeprefix(_LIGHT), data, not name.startswith(_LIGHT)) for name, data in held.items()
        )
        return cls(tuple(fields), ignore, watch)

    @classmethod
    def by(cls, site: Site | None, fields: Sequence[Field] = ()) -> Self:
        """Return what a version with these fields keeps of the selectors of its site."""
        return cls(tuple(fields), *((site.ignore, site.watch) if site else ()))

    @property
    def notes(self) -> list[Note]:
        """The notes: a name and JSON each."""
        parts = ((_IGNORE, self.ignore), (_WATCH, self.watch))
        return [
            *((f"{'' if field.counts else _LIGHT}{field.name}", field.data) for field in self.fields),
            *((name, json.dumps(selectors)) for name, selectors in parts if selectors),
        ]
