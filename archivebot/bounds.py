"""The bounds of a page: a larger page is kept byte for byte, and neither cut nor compared."""

from __future__ import annotations

# Of 142,000 real pages the largest has 13.1 MB and the one with the most tags 558,536 of them, start and
# end tags (reference works on one page); 99.9 % have less than 1.4 MB and 47,000 tags. To cut and judge the
# largest takes 400 MB; 8 MB of "<tr><td>" would take 4.7 GB.
MOST_BYTES = 16 * 1024 * 1024
MOST_TAGS = 600_000

# Maximum of link targets followed and kept from one page, in page order. The most on those pages are 5,027
# (the index of a reference work); Heritrix takes 6,000.
MOST_LINKS = 10_000


def excess(body: bytes) -> str:
    """Return why a body is too large to be read as a page, or "".

    >>> excess(b"<p>" * 10), excess(b"<" * MOST_TAGS)
    ('', 'not cut: 600000 tags or more')
    """
    if len(body) > MOST_BYTES:
        return f"not cut: more than {MOST_BYTES} bytes"
    if body.count(b"<") >= MOST_TAGS:
        return f"not cut: {MOST_TAGS} tags or more"
    return ""
