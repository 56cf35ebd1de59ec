"""The answers of the CDX server: rows as CDXJ, as words, as JSON, and as a TimeMap."""

from __future__ import annotations

import json
from collections.abc import Sequence

from archivebot.replay.address import moment
from archivebot.replay.cdxrow import Row, field_of
from archivebot.replay.timemap import LINK_FORMAT, Places, linked

OUTPUTS = {
    "cdxj": "text/x-cdxj; charset=utf-8",
    "text": "text/plain; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "link": LINK_FORMAT,
}


def written(output: str, fields: Sequence[str], rows: Sequence[Row], resume: str = "") -> str:
    """Return fields of rows in one of the outputs except ``link``.

    ``resume`` is the key to continue, which is written after the last row.
    """
    values = [[row[field_of(name, resolved=True)] for name in fields] for row in rows]
    if output == "json":
        lines = [list(fields), *values, *([[], [resume]] if resume else [])] if values or resume else []
        return "[" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "]\n"
    if output == "jsonl":
        texts = [json.dumps(dict(zip(fields, line, strict=True)), ensure_ascii=False) for line in values]
    elif output == "text":
        texts = [" ".join(_one_word(value) for value in line) for line in values]
    else:
        texts = [_cdxj(fields, row) for row in rows]
    return "".join(f"{text}\n" for text in (*texts, *(["", resume] if resume else [])))


def written_links(places: Places, own: str, following: str, rows: Sequence[Row]) -> str:
    """Return rows as a TimeMap whose address is ``own``, and whose next part is at ``following``."""
    mementos = [(row["url"], moment(row["timestamp"])) for row in rows]
    return linked(places, own, following, mementos)


def _cdxj(fields: Sequence[str], row: Row) -> str:
    names = [name for name in fields if field_of(name, resolved=True) not in ("urlkey", "timestamp")]
    values = {name: row[field_of(name, resolved=True)] for name in names}
    return f"{row['urlkey']} {row['timestamp']} {json.dumps(values, ensure_ascii=False)}"


def _one_word(value: str) -> str:
    return value.replace(" ", "%20") or "-"
