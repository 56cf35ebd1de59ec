"""The tree of a page with forms as in the markup: in tables, and nested.

It is built by libxml2. By the HTML standard a form between the rows of a table is empty, and a form inside a
form is ignored: their controls would have to be collected by their positions in the source.
"""

from __future__ import annotations

from functools import lru_cache

from lxml import etree

from archivebot.forms.thinning import thinned
from archivebot.markup.charset import is_wide


@lru_cache(maxsize=64)
def _parser(encoding: str) -> etree.HTMLParser:
    return etree.HTMLParser(encoding=encoding, remove_comments=True, remove_pis=True, huge_tree=True)


def parse(body: bytes, encoding: str) -> etree._Element | None:
    """Return the root element of a page, or None if it has none; raises etree.LxmlError for an empty one.

    Any bytes and any name of an encoding are accepted. Nothing of the page is lost after an invalid byte, a
    NUL, or ``</html>``.
    """
    if b"\0" in body and not is_wide(encoding):
        body = body.replace(b"\0", b"")
    if not _is_read(body, encoding):
        body, encoding = _decoded(body, encoding).encode("utf-8", "replace"), "utf-8"
    root = etree.fromstring(thinned(body), _parser(encoding))
    if root is not None:
        root.extend(list(root.itersiblings()))  # the elements after </html>, which browsers also show
    return root


def _is_read(body: bytes, encoding: str) -> bool:
    """Return whether libxml2 reads a body to its end, and ASCII is encoded as ASCII.

    libxml2 knows fewer charsets than Python, and stops at the first invalid byte.
    """
    try:
        body.decode(encoding)
        _parser(encoding)
        return "<".encode(encoding) == b"<"
    except (LookupError, UnicodeError):
        return False


def _decoded(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")
