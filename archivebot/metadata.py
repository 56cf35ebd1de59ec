"""The metadata of a page, by Dublin Core term."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

# The name of a term -> its values.
Terms = Mapping[str, tuple[str, ...]]

# The term that names the collection of a page (https://www.dublincore.org/specifications/dublin-core/dcmi-terms).
COLLECTION = "isPartOf"


@dataclass(frozen=True, slots=True)
class Metadata:
    """The terms of a page, and for labels of blocks the terms that differ from those of the page.

    >>> found = Metadata({"rights": ("the town",)}, {"advert": {"rights": ("the advertiser",)}})
    >>> found.of("advert"), found.of("main")
    ({'rights': ('the advertiser',)}, {'rights': ('the town',)})
    >>> Metadata.read(found.text) == found
    True
    """

    terms: Terms = field(default_factory=dict, hash=False)
    labels: Mapping[str, Terms] = field(default_factory=dict, hash=False)

    def __bool__(self) -> bool:
        return bool(self.terms or self.labels)

    @property
    def collection(self) -> str:
        """The name of the collection; "" if the page is in none."""
        return next(iter(self.terms.get(COLLECTION, ())), "")

    def of(self, label: str | None) -> Terms:
        """Return the terms of a block: those of its page, but for what rules say about its label."""
        own = self.labels.get(label) if label else None
        return {**self.terms, **own} if own else self.terms

    @property
    def text(self) -> str:
        """The metadata as one line of JSON."""
        return json.dumps({"terms": self.terms, "labels": self.labels}, ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the metadata of a line of JSON."""
        found = json.loads(text)
        labels = {label: _terms(terms) for label, terms in found["labels"].items()}
        return cls(_terms(found["terms"]), labels)


NONE = Metadata()


def _terms(found: Mapping[str, Any]) -> Terms:
    return {name: tuple(values) for name, values in found.items()}
