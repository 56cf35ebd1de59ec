"""The CDX server over HTTP."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import ArchiveReader
from archivebot.replay.cdx import OUTPUTS, CdxQuery
from archivebot.web.kept import Answer, Answers
from archivebot.web.safety import INTERFACE, server_address


async def cdx(request: Request) -> Response:
    """Answer a question to the index of captures."""
    given = parse_qs(request.url.query, keep_blank_values=True)
    query = CdxQuery.read(given)

    answers: Answers = request.app.state.answers

    def made(reader: ArchiveReader) -> Answer:
        rows, resume = query.rows(reader.mementos.keyed(*query.range, *query.times))
        return Answer(query.written(rows, resume).encode(), OUTPUTS[query.output], resume)

    def answer(reader: ArchiveReader) -> Answer:
        if query.match != "exact":  # the state of many pages takes as long as their rows
            return made(reader)
        state = reader.mementos.keyed_state(*query.range)
        return answers.of((request.url.path, request.url.query), state, lambda: made(reader))

    found = await request.app.state.readers.ask(answer)
    headers = dict(INTERFACE)
    if found.resume:
        following = urlencode(given | {"offset": ["0"], "resumeKey": [found.resume]}, doseq=True)
        headers["Link"] = f'<{server_address(request)}{request.url.path}?{following}>; rel="next"'
    return Response(found.body, headers=headers | {"Content-Type": found.type})
