"""Requests as JSON text, as stored in a frontier and written by scrapy-redis.

With pickle, anyone who can write to the frontier could run code in the crawler.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

from scrapy import Request

_DEFAULTS = Request("http://a.example/").to_dict()


def dumps(request: dict[str, Any]) -> str:
    """Write the result of :meth:`scrapy.Request.to_dict`, without the fields that have their default.

    Raises TypeError if ``meta`` or ``cb_kwargs`` hold values that JSON cannot represent.

    >>> dumps(Request("http://a.example/b", meta={"depth": 1}).to_dict())
    '{"url":"http://a.example/b","meta":{"depth":1}}'
    """
    record = {name: value for name, value in request.items() if value != _DEFAULTS.get(name)}
    if "headers" in record:
        record["headers"] = {
            _text(name): list(map(_text, values)) for name, values in record["headers"].items()
        }
    if "body" in record:
        record["body"] = b64encode(record["body"]).decode()
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def loads(text: str | bytes) -> dict[str, Any]:
    """Read a request, ready for :func:`scrapy.utils.request.request_from_dict`.

    >>> post = Request("http://a.example/", method="POST", headers={"Accept": "*/*"}, body=b"\\xff")
    >>> loads(dumps(post.to_dict())) == post.to_dict()
    True
    """
    record = json.loads(text)
    if "headers" in record:
        record["headers"] = {
            _bytes(name): list(map(_bytes, values)) for name, values in record["headers"].items()
        }
    if "body" in record:
        record["body"] = b64decode(record["body"])
    return {**_DEFAULTS, **record}


def _text(value: bytes) -> str:
    return value.decode("latin-1")


def _bytes(value: str) -> bytes:
    return value.encode("latin-1")
