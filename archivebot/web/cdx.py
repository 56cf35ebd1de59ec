"""The CDX server over HTTP."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import ArchiveReader
from archivebot.replay.cdx import OUTPUTS, CdxQuery
from archivebot.web.safety import INTERFACE, server_address


async def cdx(request: Request) -> Response:
    """Answer a question to the index of captures."""
    given = parse_qs(request.url.query, keep_blank_values=True)
    query = CdxQuery.read(given)

    def answer(reader: ArchiveReader) -> tuple[str, str]:
        rows, resume = query.rows(reader.mementos.keyed(*query.range))
        return query.written(rows, resume), resume

    text, resume = await request.app.state.readers.ask(answer)
    headers = dict(INTERFACE)
    if resume:
        following = urlencode(given | {"resumeKey": [resume]}, doseq=True)
        headers["Link"] = f'<{server_address(request)}{request.url.path}?{following}>; rel="next"'
    return Response(text, headers=headers | {"Content-Type": OUTPUTS[query.output]})
