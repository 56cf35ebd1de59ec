"""The record of a stored version, of the dictionary of a host, and the counters of a page."""

from __future__ import annotations

from dataclasses import dataclass

VersionId = int | str


@dataclass(frozen=True, slots=True)
class PageHead:
    """The counters of a page: the numbers of its versions and lineages."""

    versions: int = 0
    lineages: int = 0


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One distinct body of one URL.

    ``number`` counts the versions of content from 1; None for the body of an error or redirect. ``digest`` is
    the SHA-256 of the body (64 hex digits), ``layout`` the id of the bytes around the blocks, ``new_blocks``
    and ``new_bytes`` the blocks that differ from the previous version, ``cost`` the bytes to decode when
    reading it, 0 if its frame was removed, ``base`` the version or dictionary it is compressed against,
    ``stored_bytes`` the size of its frame.
    """

    id: VersionId
    url: str
    number: int | None
    digest: str
    length: int
    charset: str
    level: int
    segmenter: int
    layout: int
    blocks: int
    new_blocks: int
    new_bytes: int
    cost: int
    base: VersionId | None
    stored_bytes: int

    @property
    def pruned(self) -> bool:
        """Whether its frame was removed, so that its bytes cannot be rebuilt."""
        return self.cost == 0

    def serves_as(self, new: StoredVersion) -> bool:
        """Return whether this version of the same body makes a new one needless.

        The body of an error does not serve as content: it has no number.
        """
        return self.number is not None or new.number is None


@dataclass(frozen=True, slots=True)
class StoredDictionary:
    """A dictionary of a host, by the id that versions have as their base; ``length`` is in bytes."""

    id: VersionId
    host: str
    length: int
