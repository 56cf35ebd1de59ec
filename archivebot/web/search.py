"""The page of a search for words, and its results as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from archivebot.exceptions import ArchiveError
from archivebot.models import Label
from archivebot.records.question import Part, Question
from archivebot.replay.address import moment
from archivebot.search.words import pieces
from archivebot.terminal import commanded
from archivebot.web import api
from archivebot.web.missing import error_status, told
from archivebot.web.templating import page

# Results in one part.
LISTED = 20


async def search(request: Request) -> Response:
    """Answer a search: as a page, or with ``format=json`` as the API does."""
    question: Question = request.app.state.questions["search"]
    texts = api.texts_of(request)
    if texts.pop("format", ["html"]) == ["json"]:
        return await api.answered(question, request, texts)
    texts = {name: values for name, values in texts.items() if values[0].strip()}
    if "q" not in texts:
        return _page(texts)
    try:
        given = {**question.read({"limit": [str(LISTED)], **texts})}
        return _page(texts, await api.asked(request, question, given))
    except ArchiveError as error:
        return _page(texts, notes=[told(error, request.app.state.crawls.uri)], status=error_status(error))


def _page(
    texts: dict[str, list[str]], part: Part | None = None, notes: Sequence[str] = (), status: int = 200
) -> Response:
    given = {name: values[0] for name, values in texts.items()}
    return page(
        "search.html",
        status,
        title=f"Search: {given['q']}" if "q" in given else "Search",
        given=given,
        labels=[(label.value, label.value) for label in Label],
        found=[_shown(record, given["q"]) for record in part.records] if part else None,
        notes=[*notes, *map(commanded, part.notes if part else ())],
        following={**given, **part.following} if part and part.following else None,
    )


def _shown(record: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a result with its time, and its text in pieces around the words."""
    return {**record, "when": moment(record["captured_at"]), "pieces": pieces(record["text"], words)}
