"""The collections of a file, and its rules: which metadata a page and its blocks have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from archivebot.collection.collection import Collection
from archivebot.exceptions import UsageError
from archivebot.kinds import Label
from archivebot.metadata import Metadata, Terms


@dataclass(frozen=True, slots=True)
class Rule:
    """Terms for pages, or for the blocks with some labels; a condition without entries always holds."""

    terms: Terms = field(hash=False)
    patterns: tuple[re.Pattern[str], ...] = ()
    collections: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()

    def covers(self, url: str, collection: Collection | None) -> bool:
        """Return whether a page meets its conditions."""
        if self.collections and (collection is None or collection.name not in self.collections):
            return False
        return not self.patterns or any(pattern.fullmatch(url) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Collections:
    """The collections of a file by name, and its rules in order."""

    name: str = ""
    collections: Mapping[str, Collection] = field(default_factory=dict, hash=False)
    rules: tuple[Rule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.collections or self.rules)

    def named(self, name: str) -> Collection:
        """Return the collection with a name; raises UsageError."""
        if name in self.collections:
            return self.collections[name]
        if not self.collections:
            where = (
                f"{self.name} has none" if self.name else "ARCHIVE_COLLECTIONS names no file of collections"
            )
            raise UsageError(f"there is no collection {name!r}: {where}")
        near = get_close_matches(name, self.collections, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self.collections)}"
        raise UsageError(f"there is no collection {name!r} in {self.name}: {hint}")

    def of(self, url: str) -> Collection | None:
        """Return the first collection that covers a page."""
        return next((each for each in self.collections.values() if each.covers(url)), None)

    def metadata(self, url: str, chosen: str = "") -> Metadata:
        """Return the metadata of a page, which is in the ``chosen`` collection, else in one that covers it.

        A page inherits from its collection, then from each rule that covers it, a block from its page, then
        from each rule for its label. Of each term the last counts.
        """
        collection = self.collections.get(chosen) or self.of(url)
        terms: Terms = collection.terms if collection else {}
        labels: dict[str, Terms] = {}
        for rule in self.rules:
            if not rule.covers(url, collection):
                continue
            for label in rule.labels:
                labels[label] = {**labels.get(label, {}), **rule.terms}
            if not rule.labels:
                terms = {**terms, **rule.terms}
        return Metadata(terms, labels)

    def current(self, url: str, kept: Metadata, chosen: str = "") -> Metadata:
        """Return the metadata of an archived page by the rules of today; without rules what was ``kept``."""
        return self.metadata(url, chosen or kept.collection) if self else kept
