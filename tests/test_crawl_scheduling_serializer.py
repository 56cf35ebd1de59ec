"""Requests as JSON: what is left out comes back, bytes keep every value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from archivebot.crawl.scheduling.serializer import dumps, loads

NAMES = st.text("abcdefghij-", min_size=1).map(str.title)


class Asking(Spider):
    name = "asking"

    def failed(self) -> None:
        """An errback."""


@given(
    st.binary(),
    st.dictionaries(NAMES, st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"))),
    st.dictionaries(st.text(), st.integers() | st.floats(allow_nan=False) | st.text() | st.booleans()),
    st.integers(),
)
def test_a_request_comes_back_as_it_was(
    body: bytes, headers: dict[str, str], meta: dict[str, object], priority: int
) -> None:
    told = Request(
        "http://a.example/ü",
        method="POST",
        body=body,
        headers={name: value.encode("latin-1") for name, value in headers.items()},
        meta=meta,
        priority=priority,
        dont_filter=True,
    ).to_dict()
    assert loads(dumps(told)) == told


def test_callbacks_are_kept_by_name() -> None:
    spider = Asking()
    request = Request("http://a.example/", callback=spider.parse, errback=spider.failed)
    again = request_from_dict(loads(dumps(request.to_dict(spider=spider))), spider=spider)
    assert (again.callback, again.errback) == (spider.parse, spider.failed)


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError):
        dumps(Request("http://a.example/", meta={"page": object()}).to_dict())
