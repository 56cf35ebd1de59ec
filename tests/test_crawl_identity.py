"""The identity of a request."""

import pytest
from scrapy import Request

from archivebot.crawl.identity import CanonicalFingerprinter
from archivebot.urls import canonical_url


def test_identity_is_method_url_and_body() -> None:
    fingerprint = CanonicalFingerprinter().fingerprint
    same = fingerprint(Request("http://a.example/x"))
    assert same == fingerprint(Request("http://a.example/x", meta={"depth": 3}, headers={"A": "b"}))
    others = [Request("http://a.example/y"), Request("http://a.example/x", method="POST")]
    others.append(Request("http://a.example/x", method="POST", body=b"1"))
    assert len({same, *map(fingerprint, others)}) == 4
    assert len(same) == 16


@pytest.mark.parametrize(
    "url",
    ["http://a.example/ü?q=ä b|c[1]", "http://BÜCHER.example/%7euser/{x}", "http://a.example/?a;b&c='\"<>"],
)
def test_a_request_keeps_a_canonical_url_as_it_is(url: str) -> None:
    canonical = canonical_url(url)
    assert Request(canonical).url == canonical
