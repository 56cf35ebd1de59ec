"""The template of a site as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from archivebot.storage.base import LearnedTemplate
from archivebot.templates.styletree import Share
from archivebot.timestamps import timestamp


def template_record(
    template: LearnedTemplate, elements: int, url: str, blocks: Iterable[Share]
) -> dict[str, Any]:
    """Return a template and the number of its elements as a record, with the blocks of the page ``url``."""
    return {
        "site": template.site,
        "learned_at": timestamp(template.learned_at),
        "pages": template.pages,
        "elements": elements,
        "url": url,
        "blocks": list(map(asdict, blocks)),
    }
