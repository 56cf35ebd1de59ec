"""What a version keeps beside its body: fields, selectors by which its changes were judged, metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from archivebot.fields.sites import Site
from archivebot.metadata import NONE, Metadata
from archivebot.models import Field

# The names of the notes that are not fields, and what comes before the name of a field that does not count: a
# name of a field begins with a letter.
_IGNORE, _WATCH, _METADATA = ":ignore", ":watch", ":metadata"
_LIGHT = "~"

Note = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """The fields of a version, the selectors of ignored and watched parts, and its metadata.

    >>> kept = Kept((Field("price", "12"), Field("visits", "7", counts=False)), ignore=(".ad",))
    >>> kept.notes
    [('price', '12'), ('~visits', '7'), (':ignore', '[".ad"]')]
    >>> Kept.of(kept.notes) == kept
    True
    """

    fields: tuple[Field, ...] = ()
    ignore: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    metadata: Metadata = NONE

    @classmethod
    def of(cls, notes: Iterable[Note]) -> Self:
        """Return what the notes of a version hold."""
        held = dict(notes)
        ignore, watch = (tuple(json.loads(held.pop(name, "[]"))) for name in (_IGNORE, _WATCH))
        metadata = Metadata.read(held.pop(_METADATA)) if _METADATA in held else NONE
        fields = (
            Field(name.removeprefix(_LIGHT), data, not name.startswith(_LIGHT)) for name, data in held.items()
        )
        return cls(tuple(fields), ignore, watch, metadata)

    @classmethod
    def by(cls, site: Site | None, fields: Sequence[Field] = (), metadata: Metadata = NONE) -> Self:
        """Return what a version with these fields and this metadata keeps, selectors of its site included."""
        ignore, watch = (site.ignore, site.watch) if site else ((), ())
        return cls(tuple(fields), ignore, watch, metadata)

    @property
    def notes(self) -> list[Note]:
        """The notes: a name and JSON each."""
        parts = ((_IGNORE, self.ignore), (_WATCH, self.watch))
        return [
            *((f"{'' if field.counts else _LIGHT}{field.name}", field.data) for field in self.fields),
            *((name, json.dumps(selectors)) for name, selectors in parts if selectors),
            *([(_METADATA, self.metadata.text)] if self.metadata else []),
        ]
