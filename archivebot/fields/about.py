"""The fields that every page has, without selectors: its description and its summary."""

from __future__ import annotations

import json

from archivebot.content.page import PageContent
from archivebot.content.summary import description, summary
from archivebot.models import Field

DESCRIPTION, SUMMARY = "description", "summary"


def about(page: PageContent) -> tuple[Field, ...]:
    """Return the description and the summary of a page; a change of them alone does not count.

    >>> from archivebot.markup.page import ParsedPage
    >>> [field.data for field in about(PageContent(ParsedPage.of("<p>The ferry runs all year again.")))]
    ['null', '"The ferry runs all year again."']
    """
    found = {DESCRIPTION: description(page.page.document), SUMMARY: summary(page.text)}
    return tuple(
        Field(name, json.dumps(text or None, ensure_ascii=False), counts=False)
        for name, text in found.items()
    )


def merged(*fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return all fields, of each name the last.

    >>> [field.data for field in merged((Field("a", "1"), Field("b", "2")), (Field("a", "3"),))]
    ['3', '2']
    """
    return tuple({field.name: field for each in fields for field in each}.values())
