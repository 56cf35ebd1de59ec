"""What is remembered between pages takes bounded memory, however long the texts and URLs of the pages are."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from archivebot.content.wording import Wording
from archivebot.hypertext.references import resolve
from archivebot.significance.attributes import lasting_url

MANY, LONG = 100, 1 << 20
MOST = 32 * LONG

REMEMBERED = Wording()


def read_line(text: str) -> None:
    REMEMBERED.measured([text])


def read_reference(text: str) -> None:
    resolve(text, "http://a.example/")


@pytest.mark.parametrize("read", [read_line, read_reference, lasting_url])
def test_long_texts_are_not_all_remembered(read: Callable[[str], object]) -> None:
    tracemalloc.start()
    try:
        for number in range(MANY):
            read(f"{number}{'a' * LONG}")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < MOST


def test_texts_that_were_forgotten_are_measured_again() -> None:
    texts = [f"{number} {'a' * LONG}, $5" for number in range(12)]
    wording = Wording()
    rows = [wording.measured([text])[0].tolist() for text in texts]
    assert rows == [wording.measured([text])[0].tolist() for text in texts]
    assert wording.measured(texts)[0].tolist() == [row for each in rows for row in each]
