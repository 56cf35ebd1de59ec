"""The settings of the archive as one frozen value, read once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from archivebot.exceptions import UsageError
from archivebot.models import Attribute

DEFAULT_URI = "sqlite:///archive.db"
KINDS = re.compile(r"sqlite:///.+|mongodb(\+srv)?://.*", re.DOTALL)
DEFAULT_LEVEL = 3
MAX_LEVEL = 9

# Of 3,310 versions (505 MB) level 10 makes 11.64 MB in 21 CPU seconds, level 9 11.69 MB in 21, level
# 11 11.59 MB in 25 and level 12 11.59 MB in 28.
ZSTD_LEVEL = 10

# What is content beside the text of a page. Of 1,044 versions of history-dev that were judged to be without a
# change of content none has another title or text of an image, 17 another link in the content (a site that
# moved) and 19 another image (mostly the same one cut anew); of 242 with one it is 9, 14, 30 and 43.
CONTENT_ATTRIBUTES = frozenset((Attribute.TITLE, Attribute.ALT))


@dataclass(frozen=True, slots=True)
class ArchiveConfig:
    """Where the archive lies and how pages are cut and compressed.

    ``level`` is the depth of the block tree for URLs without a history (1 is coarsest);
    ``adjust_level`` lets the history of a URL move it. ``frame_bound`` is the number of bytes that
    reading any version may have to decode, ``zstd_level`` the effort of compression (1 to 19).
    ``content_attributes`` are what is content beside the text of a page.
    """

    uri: str = DEFAULT_URI
    level: int = DEFAULT_LEVEL
    adjust_level: bool = True
    frame_bound: int = 16_000_000
    zstd_level: int = ZSTD_LEVEL
    content_attributes: frozenset[Attribute] = CONTENT_ATTRIBUTES

    def __post_init__(self) -> None:
        if not KINDS.fullmatch(self.uri):
            places = "sqlite:///archive.db, sqlite:////full/path.db or mongodb://host/database"
            raise UsageError(f"{self.uri!r} names no archive: write {places}")
        for name, low, high in (("level", 1, MAX_LEVEL), ("zstd_level", 1, 19), ("frame_bound", 0, 1 << 30)):
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"{name} is {getattr(self, name)}: give a whole number from {low} to {high}")

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> ArchiveConfig:
        """Read the settings ARCHIVE_URI, ARCHIVE_LEVEL and so on; those not set keep their default.

        Raises UsageError for a value of the wrong kind or out of range.
        """
        default = cls()
        return cls(
            uri=str(settings.get("ARCHIVE_URI") or default.uri),
            level=whole("ARCHIVE_LEVEL", settings, default.level),
            adjust_level=_switch("ARCHIVE_ADJUST_LEVEL", settings, default.adjust_level),
            frame_bound=whole("ARCHIVE_FRAME_BOUND", settings, default.frame_bound),
            zstd_level=whole("ARCHIVE_ZSTD_LEVEL", settings, default.zstd_level),
            content_attributes=_attributes(settings, default.content_attributes),
        )


def without_password(uri: str) -> str:
    """Give the URI of an archive as it may be shown.

    >>> without_password("mongodb://user:secret@host/archive")
    'mongodb://user:***@host/archive'
    """
    return re.sub(r"(//[^/:@]*):[^/@]*@", r"\1:***@", uri)


def whole(name: str, settings: Mapping[str, Any], default: int) -> int:
    """Read a setting that is a whole number; raises UsageError.

    >>> whole("ARCHIVE_LEVEL", {"ARCHIVE_LEVEL": "4"}, 3), whole("ARCHIVE_LEVEL", {}, 3)
    (4, 3)
    """
    value = str(settings.get(name, default))
    try:
        return int(value)
    except ValueError as error:
        raise UsageError(f"{name} is {value!r}: give a whole number") from error


def _switch(name: str, settings: Mapping[str, Any], default: bool) -> bool:
    value = str(settings.get(name, default)).lower()
    if value not in ("0", "1", "false", "true"):
        raise UsageError(f"{name} is {value!r}: give True or False")
    return value in ("1", "true")


def _attributes(settings: Mapping[str, Any], default: frozenset[Attribute]) -> frozenset[Attribute]:
    name = "ARCHIVE_CONTENT_ATTRIBUTES"
    value = settings.get(name)
    if value is None:
        return default
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    try:
        return frozenset(map(Attribute, words))
    except ValueError as error:
        raise UsageError(f"{name} is {value!r}: give any of {', '.join(Attribute)}, or nothing") from error
