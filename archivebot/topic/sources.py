"""Sources of examples: files, folders and lists of labelled pages, read as pages with title and text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from archivebot.documents.document import document_text
from archivebot.exceptions import UsageError
from archivebot.hypertext import read
from archivebot.markup.media import media_of
from archivebot.markup.words import wordless
from archivebot.topic.training import Example
from archivebot.urls import canonical_url

# The header at the start of a saved HTTP answer: an optional status line, fields, a blank line.
_HEADER = re.compile(
    rb"(?:HTTP/[\d.]+ [^\r\n]*\r?\n)?(?:[A-Za-z][\w-]*:[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*)+\r?\n"
)
_CONTENT_TYPE = re.compile(rb"^content-type:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


def readable(body: bytes, content_type: str) -> bool:
    """Return whether an answer of a server can be judged: a page, a text for readers, or a document with one.

    >>> readable(b"Dive here.", "Text/Plain"), readable(b"<html>", ""), readable(b"%PDF-1.7", "")
    (True, True, False)
    """
    return media_of(body, content_type).is_prose and not wordless(body, content_type)


def example(
    body: bytes, content_type: str, source: str, relevant: bool = True, *, saved: bool = False
) -> Example:
    """Return an example: a page with title, topic text and links, XML without links, all other texts whole.

    ``saved`` is whether a tool wrote the body into a file, see :func:`~archivebot.markup.media.media_of`.
    Raises UsageError if the body has no text.

    >>> example(b"<title>Reefs</title><p>Dive here.", "text/html", "http://a.example/").title
    'Reefs'
    >>> example(b"Dive at the reef.", "", "notes.txt").text
    'Dive at the reef.'
    """
    media = media_of(body, content_type, saved=saved)
    if media.is_markup:
        page = read(body, media.charset, source, context=True)
        return Example(source, page.title, page.text, relevant, page.links if media.is_page else ())
    if media.is_document:
        title, text = document_text(body, media.type)
        if text:
            return Example(source, title, text, relevant)
    if not media.is_text:
        raise UsageError(f"{source} is {media.name}: give pages and texts")
    return Example(source, "", body.decode(media.charset, "replace").removeprefix("\ufeff"), relevant)


def read_file(path: Path, url: str = "", relevant: bool = True) -> Example:
    """Return the page in a file, without the HTTP header of a saved answer.

    Raises UsageError if the file cannot be read or has no text.
    """
    return _example(path, *_contents(path), url, relevant)


def _example(path: Path, body: bytes, content_type: str, url: str = "", relevant: bool = True) -> Example:
    source = url or path.absolute().as_uri()
    return example(body, content_type, source, relevant, saved=not content_type)


def _contents(path: Path) -> tuple[bytes, str]:
    """Return the body in a file, and its Content-Type if it is a saved answer; raises UsageError."""
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    content_type = ""
    header = _HEADER.match(body)
    if header and (named := _CONTENT_TYPE.findall(header[0])):
        content_type, body = b", ".join(named).decode("latin-1").strip(), body[header.end() :]
    return body, content_type


def read_folder(path: Path, relevant: bool = True) -> Iterator[Example]:
    """Yield the page in every file below a folder, sorted by name; hidden files and media are left out.

    Raises UsageError if a file cannot be read.
    """
    for file in sorted(path.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            body, content_type = _contents(file)
            if not wordless(body, content_type):
                yield _example(file, body, content_type, relevant=relevant)


def read_examples(path: Path) -> list[Example]:
    """Read labelled pages from JSON lines with ``url``, ``file`` and ``relevant``.

    A ``file`` is relative to the list. Raises UsageError with the number of a line that cannot be used.
    """
    return [_labelled(line, path, number) for number, line in _lines(path)]


def read_labels(path: Path) -> dict[str, bool]:
    """Read the labels of URLs from JSON lines with ``url`` and ``relevant``; all else is ignored.

    Raises UsageError if the file cannot be read, or with the number of a line that cannot be used.
    """
    labels = {}
    for number, line in _lines(path):
        try:
            record = json.loads(line)
            url, relevant = canonical_url(str(record["url"])), record["relevant"]
        except (ValueError, KeyError, TypeError, UsageError):
            url, relevant = "", None
        if not isinstance(relevant, bool):
            raise UsageError(
                f'{path}, line {number}: write {{"url": "http://...", "relevant": true or false}}'
            )
        labels[url] = relevant
    return labels


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines of a file that are not blank, each with its number."""
    try:
        lines = path.read_text("utf-8-sig").split("\n")  # a JSON string may have U+2028 and the like
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as JSON lines in UTF-8") from error
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]


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
