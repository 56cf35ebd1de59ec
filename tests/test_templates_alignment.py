"""Alignment of pages: acceptance fact 7 of the reference, and the table it abbreviates."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.templates.alignment import common, similarity, template_shares, tokens
from archivebot.templates.parts import parts_of

TEXTS = st.text("abcd", max_size=40)


def longest(one: str, other: str) -> int:
    """Fill the whole table, as the reference has it."""
    row = [0] * (len(other) + 1)
    for a in one:
        before, row = row, [0]
        for j, b in enumerate(other):
            row.append(before[j] + 1 if a == b else max(before[j + 1], row[j]))
    return row[-1]


def test_the_example_has_length_four() -> None:
    assert len(common("abcbdab", "bdcaba")) == 4
    assert similarity("abcbdab", "bdcaba") == pytest.approx(8 / 13)


def test_identical_sequences_are_alike_and_disjoint_ones_are_not() -> None:
    assert similarity("abc" * 100, "abc" * 100) == 1
    assert similarity("abc", "xyz") == 0


@given(one=TEXTS, other=TEXTS)
def test_the_pairs_are_a_common_subsequence_of_the_greatest_length(one: str, other: str) -> None:
    pairs = common(one, other)
    assert len(pairs) == longest(one, other)
    assert all(one[i] == other[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    if one or other:
        assert similarity(one, other) == pytest.approx(2 * len(pairs) / (len(one) + len(other)))


def test_what_neighbours_share_is_template() -> None:
    pages = [
        f"<body><h1>Site</h1><p>{text}</p><div class=foot>Rights</div></body>".encode()
        for text in ("one", "two", "three", "one")
    ]
    sequences = []
    for body in pages:
        page = parts_of(body)
        assert page is not None
        sequences.append(tokens(page))
    shares = dict(zip(sequences[0], template_shares(sequences[0], sequences[1:]), strict=True))
    assert sorted(set(shares.values())) == [pytest.approx(1 / 3), 1]
    assert [token for token, share in shares.items() if share < 1] == [sequences[0][5]]
    assert similarity(sequences[0], sequences[3]) == 1
