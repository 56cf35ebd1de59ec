"""Sources of examples: files, folders and lists of labelled pages, read as pages with title and text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from w3lib.encoding import html_to_unicode

from archivebot.exceptions import UsageError
from archivebot.hypertext import read
from archivebot.topic.training import Example
from archivebot.urls import canonical_url

# The header that saved answers of servers begin with: a status line or not, then fields, a blank line.
_HEADER = re.compile(
    rb"(?:HTTP/[\d.]+ [^\r\n]*\r?\n)?(?:[A-Za-z][\w-]*:[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*)+\r?\n"
)
_CONTENT_TYPE = re.compile(rb"^content-type:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_MARKUP = re.compile(rb"<(?:!doctype|html|head|title|body|h[1-6]|p|div|a|table)\b", re.IGNORECASE)


def readable(body: bytes, content_type: str) -> bool:
    """Return whether an answer of a server can be judged: HTML and plain text can.

    >>> readable(b"Dive here.", "Text/Plain"), readable(b"<html>", ""), readable(b"%PDF-1.7", "")
    (True, True, False)
    """
    return content_type.lower().startswith("text/plain") or _is_html(body, content_type)


def example(body: bytes, content_type: str, source: str, relevant: bool = True) -> Example:
    """Read a page as an example: an HTML page with title, main text and links, any other text whole.

    >>> example(b"<title>Reefs</title><p>Dive here.", "text/html", "http://a.example/").title
    'Reefs'
    >>> example(b"Dive at the reef.", "", "notes.txt").text
    'Dive at the reef.'
    """
    encoding, text = html_to_unicode(content_type or None, body, default_encoding="utf-8")
    if not _is_html(body, content_type):
        return Example(source, "", text, relevant)
    page = read(body, encoding, source, context=True)
    return Example(source, page.title, page.text, relevant, page.links)


def _is_html(body: bytes, content_type: str) -> bool:
    return "html" in content_type.lower() if content_type else bool(_MARKUP.search(body[:4096]))


def read_file(path: Path, url: str = "", relevant: bool = True) -> Example:
    """Read a page from a file; the HTTP header that a saved answer begins with is no text of it.

    Raises UsageError where the file cannot be read.
    """
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    content_type = ""
    header = _HEADER.match(body)
    if header and (named := _CONTENT_TYPE.search(header[0])):
        content_type, body = named[1].decode("latin-1").strip(), body[header.end() :]
    return example(body, content_type, url or path.absolute().as_uri(), relevant)


def read_folder(path: Path, relevant: bool = True) -> Iterator[Example]:
    """Read every file below a folder, sorted by name, hidden ones left out."""
    for file in sorted(path.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            yield read_file(file, relevant=relevant)


def read_examples(path: Path) -> list[Example]:
    """Read labelled pages from JSON lines with ``url``, ``file`` and ``relevant``.

    A ``file`` is looked for beside the list. Raises UsageError that names the line that cannot be used.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as JSON lines in UTF-8") from error
    return [_labelled(line, path, number) for number, line in enumerate(lines, 1) if line.strip()]


def _labelled(line: str, path: Path, number: int) -> Example:
    try:
        record = json.loads(line)
        file, url, relevant = str(record["file"]), canonical_url(str(record["url"])), record["relevant"]
        if not isinstance(relevant, bool):
            raise TypeError("relevant")
    except (ValueError, KeyError, TypeError, UsageError) as error:
        raise UsageError(
            f'{path}, line {number}: write {{"url": "http://...", "file": "...", "relevant": true or false}}'
        ) from error
    return read_file(path.parent / file, url, relevant)
