"""The questions about alerts: what was sent, and by which rules."""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from archivebot.archive import ArchiveReader
from archivebot.records.question import PARTS, SITE, WORDS, Given, Parameter, Part, Question
from archivebot.records.shapes import list_of, ref
from archivebot.urls import host_part, parse_seed, urlkey
from archivebot.watch.rulebook import Rulebook
from archivebot.watch.sent import SentAlert, sent_alerts


def questions(outbox: Path, rules: str) -> tuple[Question, ...]:
    """Return the questions about the alerts of an outbox, and about the rules of a file, "" for none."""
    return (
        Question(
            "alerts",
            "The alerts that watch rules sent or are to send, the newest first",
            list_of(ref("Alert")),
            partial(_alerts, outbox),
            (Parameter("rule", WORDS, "only the alerts of this rule"), SITE, *PARTS),
        ),
        Question(
            "watches",
            "The rules of the file that ARCHIVE_WATCH names",
            list_of(ref("WatchRule")),
            partial(_watches, rules),
            PARTS,
        ),
    )


def _alerts(outbox: Path, archive: ArchiveReader, given: Given) -> Part:
    site = host_part(urlkey(parse_seed(given["site"]))) if given["site"] else None
    found = (
        each
        for each in sent_alerts(outbox, archive.position().archive)
        if given["rule"] in (None, each.alert.rule) and _is_on(each, site)
    )
    shown = list(islice(found, given["skip"], given["skip"] + given["limit"] + 1))
    more = {"skip": given["skip"] + given["limit"]} if len(shown) > given["limit"] else None
    return Part([each.record() for each in shown[: given["limit"]]], more)


def _is_on(sent: SentAlert, site: str | None) -> bool:
    return site is None or any(host_part(urlkey(page.url)) == site for page in sent.alert.pages)


def _watches(rules: str, archive: ArchiveReader, given: Given) -> list[dict[str, Any]]:
    return Rulebook(rules).rules()
