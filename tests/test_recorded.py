"""The recorded session of a new user: done again in a terminal, it shows the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.recorded import COLUMNS, DOCUMENT, TASKS, document, record
from tests.sessions import normalised


def shown(text: str) -> str:
    """Leave out what differs from run to run; also the order in which a crawl got its answers."""
    return re.sub(r"order +\d+", "order N", normalised(text))


def test_the_recorded_session_shows_the_help_as_it_is(tmp_path: Path) -> None:
    helps = dict(list(TASKS.items())[:2])
    now = shown(document(record(tmp_path, 0, helps)))
    assert shown(DOCUMENT.read_text("utf-8")).startswith(now)


@pytest.mark.long
def test_the_recorded_session_is_what_happens(tmp_path: Path) -> None:
    tasks = list(record(tmp_path, 0))
    assert shown(document(iter(tasks))) == shown(DOCUMENT.read_text("utf-8"))
    assert len(tasks) == len(TASKS) == 12
    codes = [step.code for _, steps in tasks for step in steps]
    assert [code for code in codes if code] == [1]  # of the page that was never captured
    helps = [step.shown for _, steps in tasks[:2] for step in steps]
    assert max(len(line) for text in helps for line in text.splitlines()) <= COLUMNS
    assert all((tmp_path / name).exists() for name in ("week.csv", "then.html", "events.html", "exported"))
