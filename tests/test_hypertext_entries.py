"""The entries of sitemaps and feeds, whole and damaged."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest

from archivebot.hypertext.entries import MOST_ENTRIES, Entry, entries

BASE = "http://a.example/lists/x.xml"
PAGE = "http://a.example/page"
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)

SITEMAP = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> {PAGE} </loc><lastmod>2026-01-02T13:00:00+01:00</lastmod>
<i:image><i:loc>/x.png</i:loc></i:image></url>
</urlset>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><updated>2026-02-01T00:00:00Z</updated>
<entry><link rel="self" href="/self"/><link href="/page"/><published>2026-01-01T12:00:00Z</published>
<updated>2026-01-02T12:00:00Z</updated></entry></feed>"""
RSS2 = """<rss version="2.0"><channel><link>http://a.example/</link><item><title>x</title>
<guid>http://a.example/page</guid><pubDate>Fri, 02 Jan 2026 12:00:00 +0000</pubDate></item></channel></rss>"""
RSS1 = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><item><link>/page</link><dc:date>2026-01-02T12:00:00Z</dc:date></item>
</rdf:RDF>"""
INDEX = f"""<sitemapindex><sitemap><loc>{PAGE}</loc><lastmod>2026-01-02T12:00:00Z</lastmod></sitemap>
</sitemapindex>"""
FORMATS = {"sitemap": SITEMAP, "atom": ATOM, "rss2": RSS2, "rss1": RSS1, "index": INDEX}


@pytest.mark.parametrize("text", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_each_format_names_its_pages_with_their_times(text: str, packed: bool) -> None:
    body = gzip.compress(text.encode()) if packed else text.encode()
    assert entries(body, BASE) == (Entry(PAGE, NOON),)


def test_a_damaged_list_has_the_entries_before_the_damage() -> None:
    assert entries(SITEMAP.replace("</urlset>", "<url><loc").encode(), BASE) == (Entry(PAGE, NOON),)
    assert entries(gzip.compress(SITEMAP.encode())[:20], BASE) == ()
    assert entries(b"\x1f\x8bnothing", BASE) == ()


def test_the_begin_of_a_damaged_packed_list_counts() -> None:
    urls = "".join(f"<url><loc>/{number}</loc></url>" for number in range(20_000))
    packed = gzip.compress(f"<urlset>{urls}".encode())
    half = len(packed) // 2
    found = entries(packed[:half] + bytes(9) + packed[half + 9 :], BASE)
    assert 5_000 < len(found) < 20_000
    assert found[0].url == "http://a.example/0"


@pytest.mark.parametrize("before", ["<!-- made by hand -->", "<?xml version='1.0'?><?style sheet?>"])
@pytest.mark.parametrize("name", ["entry", "url", "item"])
def test_a_document_of_one_entry_may_begin_with_a_comment(before: str, name: str) -> None:
    text = f"{before}<{name}><link>/page</link></{name}><!-- the end -->"
    assert entries(text.encode(), BASE) == (Entry(PAGE),)


def test_no_file_is_read_and_no_entity_grows() -> None:
    bomb = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    text = f'<!DOCTYPE urlset [<!ENTITY e0 "x">{bomb}<!ENTITY f SYSTEM "file:///etc/hostname">]>'
    found = entries(f"{text}<urlset><url><loc>/a&e9;&f;</loc></url></urlset>".encode(), BASE)
    assert all(len(entry.url) < 100 for entry in found)


def test_the_time_that_most_entries_share_is_no_change() -> None:
    def listed(*days: int) -> tuple[datetime | None, ...]:
        urls = "".join(
            f"<url><loc>/{n}</loc><lastmod>2026-01-{day:02}</lastmod></url>" for n, day in enumerate(days)
        )
        return tuple(entry.changed for entry in entries(f"<urlset>{urls}</urlset>".encode(), BASE))

    first, second = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    assert listed(2, 2, 2, 1) == (None, None, None, first)
    assert listed(2, 2, 1, 1) == (second, second, first, first)
    assert listed(2) == (second,)


@pytest.mark.long
def test_a_list_has_no_more_entries_than_the_protocol_allows() -> None:
    urls = "".join(f"<url><loc>/{number}</loc></url>" for number in range(MOST_ENTRIES + 5))
    assert len(entries(f"<urlset>{urls}</urlset>".encode(), BASE)) == MOST_ENTRIES
