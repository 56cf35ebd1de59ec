"""The history of a page as one HTML file: its captures, and what changed between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from archivebot.metadata import Metadata, Terms
from archivebot.models import BlockChange, Capture, Change, Delta
from archivebot.versioning.worddiff import ADDED, REMOVED, word_changes

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.2rem .6rem;border-bottom:1px solid #ddd}
ins{background:#d5f2d5;text-decoration:none}del{background:#f9d6d5}
.change{border-left:4px solid #999;padding-left:.8rem;margin:1rem 0;
white-space:pre-wrap;overflow-wrap:anywhere}
.change b{font-weight:600}code{font-size:.85em}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_MARKS = {ADDED: "ins", REMOVED: "del"}


def history_page(
    url: str,
    captures: Sequence[Capture],
    deltas: Iterable[tuple[Capture, Delta]],
    metadata: Metadata | None = None,
) -> str:
    """Return the history of a page as an HTML document without scripts, links to files or requests.

    The metadata are named as in https://www.dublincore.org/specifications/dublin-core/dcq-html/.
    """
    terms = metadata.terms if metadata else {}
    return "".join((*_head(url, terms), *_page(captures, deltas)))


def _head(url: str, terms: Terms) -> Iterator[str]:
    title = f"History of {escape(url)}"
    yield '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    if terms:
        yield '<link rel="schema.DCTERMS" href="http://purl.org/dc/terms/">'
        yield f'<meta name="DCTERMS.identifier" content="{escape(url)}">'
    for name, values in terms.items():
        for value in values:
            yield f'<meta name="DCTERMS.{name}" content="{escape(value)}">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head>\n<body><h1>{title}</h1>\n"


def _page(captures: Sequence[Capture], deltas: Iterable[tuple[Capture, Delta]]) -> Iterator[str]:
    yield "<h2>Captures</h2>\n<table><thead><tr>"
    yield "".join(f"<th>{name}" for name in ("captured (UTC)", "kind", "status", "version", "size", "digest"))
    yield "</thead><tbody>\n"
    for capture in captures:
        digest = f"<code>{capture.sha256[:12]}</code>" if capture.digest else escape(capture.location or "")
        cells = (
            f"{capture.captured_at:%Y-%m-%d %H:%M:%S}",
            *(capture.kind.value, capture.status or "-", capture.number or "-", capture.size),
            digest,
        )
        yield "<tr>" + "".join(f"<td>{cell}" for cell in cells) + "\n"
    yield "</tbody></table>\n"
    for capture, delta in deltas:
        yield f"<h2>Version {delta.before} to {delta.after}, {capture.captured_at:%Y-%m-%d %H:%M:%S}</h2>\n"
        yield f"<p>{escape(delta.kind.value)}: {escape(delta.reason)}</p>\n"
        for each in delta.attributes:
            yield (
                f'<div class="change"><b>{escape(each.attribute.value)}</b> {escape(each.of)}\n'
                f"<del>{escape(each.before)}</del> <ins>{escape(each.after)}</ins></div>\n"
            )
        yield from (_change(each) for each in delta.changes if each.change is not Change.UNCHANGED)
    yield "</body></html>\n"


def _change(change: BlockChange) -> str:
    """Return a change of a block: its words, the removed and the added ones marked."""
    pieces = word_changes(change.before or "", change.after or "")
    marked = "".join(
        f"<{_MARKS[what]}>{escape(text)}</{_MARKS[what]}>" if what in _MARKS else escape(text)
        for what, text in pieces
    )
    label = change.label.value if change.label else ""
    head = f"<b>{change.change.value.lower()}</b> {escape(label)} {escape(change.topic)}"
    return f'<div class="change">{head}\n{marked}</div>\n'
