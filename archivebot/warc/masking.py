"""Heads of answers whose bodies are stored without their codings.

A record may hold a decoded body if its header fields describe that body. The fields that no longer do get a
prefix, and the true length is added. Browsertrix, Common Crawl and pywb write or read such records, each with
a prefix of its own.
"""

from __future__ import annotations

import re

PREFIX = b"X-Archive-Orig-"

_CODING, _TRANSFER, _LENGTH = b"content-encoding", b"transfer-encoding", b"content-length"
_DIGITS = 18  # of a length: more bytes than there are
_FIELD = re.compile(rb"^([^\s:]+)[ \t]*:[ \t]*([^\r\n]*)", re.MULTILINE)
_HIDDEN = re.compile(
    rb"^%b(?=(?:%b)*(?:content-encoding|transfer-encoding|content-length)[ \t]*:)" % (PREFIX, PREFIX),
    re.MULTILINE | re.IGNORECASE,
)
_DECODED = re.compile(rb"^" + PREFIX + rb"content-encoding[ \t]*:", re.MULTILINE | re.IGNORECASE)
_ADDED = re.compile(rb"Content-Length: [0-9]+\r\n(?=\r{0,2}\n\Z)")
_END = re.compile(rb"\r{0,2}\n\Z")  # a second \r comes from a conversion of line ends


def masked(head: bytes, length: int, *, decoded: bool) -> bytes:
    """Return the head of an answer as it describes a stored body of ``length`` bytes.

    The body has no chunks; if it is ``decoded``, it has no content codings either. A head that is right
    already is returned unchanged. A field that a server sent with the prefix, as web archives
    do, gets the prefix again.

    >>> masked(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n", 5, decoded=False)
    b'HTTP/1.1 200 OK\\r\\nX-Archive-Orig-Transfer-Encoding: chunked\\r\\nContent-Length: 5\\r\\n\\r\\n'
    >>> masked(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\n", 5, decoded=True)
    b'HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\n'
    """
    fields = [(found[1].lower(), found[2].strip()) for found in _FIELD.finditer(head)]
    wrong = {name for name, value in fields if name == _TRANSFER or (decoded and name == _CODING)}
    unfit = any(name == _LENGTH and value != str(length).encode() for name, value in fields)
    if wrong or unfit or unmasked(head) != head:
        wrong.add(_LENGTH)
        head = _HIDDEN.sub(PREFIX + rb"\g<0>", head)
        head = _FIELD.sub(lambda found: PREFIX * (found[1].lower() in wrong) + found[0], head)
        return _END.sub(b"Content-Length: %d\r\n" % length + rb"\g<0>", head)
    return head


def unmasked(head: bytes) -> bytes:
    """Return the head as it was received; a head without an added length is returned unchanged.

    >>> head = b"HTTP/1.1 200 OK\\r\\ncontent-encoding:gzip\\r\\nContent-Length: 3\\r\\n\\r\\n"
    >>> unmasked(masked(head, 5, decoded=True)) == head, unmasked(head) == head
    (True, True)
    """
    if PREFIX.lower() not in head.lower() or not _ADDED.search(head):
        return head
    plain = _HIDDEN.sub(b"", head)
    return _ADDED.sub(b"", plain) if plain != head else head


def was_decoded(head: bytes) -> bool:
    """Return whether the body of a head was stored without its content codings.

    >>> was_decoded(masked(b"HTTP/1.1 200 OK\\r\\nContent-Encoding: br\\r\\n\\r\\n", 5, decoded=True))
    True
    """
    return _DECODED.search(head) is not None


def coded_length(head: bytes) -> int | None:
    """Return the bytes of a body with its content codings by the head as it was received; None for unknown.

    >>> coded_length(b"HTTP/1.1 200 OK\\r\\nContent-Length: 35\\r\\n\\r\\n")
    35
    """
    fields = {found[1].lower(): found[2].strip() for found in _FIELD.finditer(head)}
    length = fields.get(_LENGTH, b"")
    return int(length) if length.isdigit() and len(length) <= _DIGITS and _TRANSFER not in fields else None
