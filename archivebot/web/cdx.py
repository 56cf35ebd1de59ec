"""The CDX server over HTTP."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import ArchiveReader
from archivebot.replay.cdx import OUTPUTS, CdxQuery
from archivebot.web.kept import Answer
from archivebot.web.readers import keeping
from archivebot.web.safety import INTERFACE, server_address


def cdx(reader: ArchiveReader, request: Request) -> Response:
    """Answer a question to the index of captures."""
    given = parse_qs(request.url.query, keep_blank_values=True)
    query = CdxQuery.read(given)

    def made() -> Answer:
        captures = reader.mementos.keyed(*query.range, *query.times)
        if query.counts_pages:
            return Answer(query.pages(captures).encode(), OUTPUTS["json"])
        rows, resume = query.rows(captures)
        return Answer(query.written(rows, resume).encode(), OUTPUTS[query.output], resume)

    if query.match == "exact":
        found = keeping(request).of(reader.mementos.keyed_state(*query.range), made)
    else:  # the state of many pages takes as long as their rows
        found = made()
    headers = dict(INTERFACE)
    if found.resume:
        following = urlencode(given | _following(query, found.resume), doseq=True)
        headers["Link"] = f'<{server_address(request)}{request.url.path}?{following}>; rel="next"'
    return Response(found.body, headers=headers | {"Content-Type": found.type})


def _following(query: CdxQuery, resume: str) -> dict[str, list[str]]:
    """Return the parameters that lead to the rows after an answer."""
    if query.page is not None:
        return {"page": [str(query.page + 1)]}
    return {"offset": ["0"], "resumeKey": [resume]}
