"""Metadata as JSON: the terms of Dublin Core, each with a list of values."""

from __future__ import annotations

from typing import Any

from archivebot.metadata import Metadata
from archivebot.models import Label


def metadata_record(metadata: Metadata) -> dict[str, Any]:
    """Return the metadata of a page as a record; without terms it is empty."""
    return {name: list(values) for name, values in metadata.terms.items()}


def block_metadata_record(metadata: Metadata, label: Label | None) -> dict[str, Any] | None:
    """Return the metadata of a block with a label as a record; None if it is that of its page.

    >>> found = Metadata({"rights": ("the town",)}, {Label.ADVERT: {"rights": ("the advertiser",)}})
    >>> block_metadata_record(found, Label.ADVERT), block_metadata_record(found, Label.MAIN)
    ({'rights': ['the advertiser']}, None)
    """
    own = metadata.of(label)
    return None if own == metadata.terms else {name: list(values) for name, values in own.items()}
