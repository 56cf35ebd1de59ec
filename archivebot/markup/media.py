"""What a body is that is no text: a picture, a document, an archive, by its first bytes and its type."""

from __future__ import annotations

import re

# https://mimesniff.spec.whatwg.org/#matching-a-mime-type-pattern and the documents of the formats; the
# longest pattern decides.
MAGIC = {
    b"%PDF": "a PDF document",
    b"GIF8": "a GIF picture",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"RIFF": "RIFF sound, video or picture",
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
    b"\0\0\1\0": "an icon",
    b"PK\x03\x04": "a ZIP archive or an office document",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old office document",
    b"Rar!\x1a\x07": "a RAR archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x1f\x8b": "gzip data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"OggS": "Ogg sound or video",
    b"fLaC": "FLAC sound",
    b"ID3": "MP3 sound",
    b"\x1a\x45\xdf\xa3": "a Matroska or WebM video",
    b"wOF": "a font",
    b"\0\1\0\0\0": "a font",
    b"\0asm": "WebAssembly",
    b"SQLite format 3\0": "an SQLite database",
}
BINARY = tuple(MAGIC)
_RIFF = {b"WEBP": "a WebP picture", b"WAVE": "WAVE sound", b"AVI ": "an AVI video"}
_BRANDS = {b"avif": "an AVIF picture", b"heic": "a HEIC picture"}

# https://mimesniff.spec.whatwg.org/#binary-data-byte in what the standard calls the resource header
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_HEADER = 1445


def media(body: bytes, content_type: str = "") -> str | None:
    """Return what a body is that holds no text, as words; None for a text, whatever its type says.

    Only what no markup begins is judged by single bytes: a page may have a stray control in it.

    >>> media(b"\\x89PNG\\r\\n", "text/html"), media(b"<p>x\\0", "image/png"), media(b"a text")
    ('a PNG picture', None, None)
    >>> media(b"RIFF\\x24\\0\\0\\0WEBPVP8 "), media(b"\\0\\0\\0\\x20ftypavif"), media(b"\\1\\2", "x/y; z")
    ('a WebP picture', 'an AVIF picture', 'x/y data')
    """
    for magic, name in MAGIC.items():
        if body.startswith(magic):
            return _RIFF.get(body[8:12], name)
    if body[4:8] == b"ftyp":
        return _BRANDS.get(body[8:12], "an MP4 video")
    head = body[:_HEADER]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or head.lstrip(b"\xef\xbb\xbf \t\r\n\0").startswith(b"<"):
        return None
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/html" or not _BINARY.search(head):
        return None
    return f"{kind or 'binary'} data"
