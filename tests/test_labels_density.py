"""Link density: acceptance fact 6 of the reference."""

from __future__ import annotations

import pytest

from archivebot.labels.density import DENSE, is_dense, link_density


@pytest.mark.parametrize("threshold", [0.0, DENSE, 1e9])
def test_without_words_a_part_is_always_links(threshold: float) -> None:
    assert is_dense(0, 0, threshold)
    assert is_dense(5, 0, threshold)


def test_equality_with_the_threshold_is_kept() -> None:
    assert link_density(3, 60) == 0.05
    assert not is_dense(3, 60, 0.05)
    assert is_dense(3, 59, 0.05)
