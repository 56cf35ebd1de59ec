"""Clusters of near-duplicates are the connected components of their pairs."""

from __future__ import annotations

import random

import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from archivebot.duplicates.rule import Likeness
from archivebot.duplicates.survey import Match, Member
from archivebot.jobs.duplicates import groups_of


@pytest.mark.parametrize("seed", range(5))
def test_the_clusters_are_the_components_of_scipy(seed: int) -> None:
    chance = random.Random(seed)
    members = [Member(f"http://example.com/{number}", 60) for number in range(60)]
    pairs = [tuple(chance.sample(range(60), 2)) for _ in range(45)]
    groups = list(groups_of([Match(members[a], members[b], Likeness(0, 1.0)) for a, b in pairs]))
    ones, others = zip(*pairs, strict=True)
    _, labels = connected_components(coo_array(([1] * 45, (ones, others)), shape=(60, 60)), directed=False)
    near = {label: {members[number] for number in range(60) if labels[number] == label} for label in labels}
    assert sorted(map(len, groups), reverse=True) == [len(group) for group in groups]
    assert {frozenset(group) for group in groups} == {
        frozenset(each) for each in near.values() if len(each) > 1
    }


def test_members_of_a_cluster_are_in_the_order_of_the_pairs_and_pages_come_first() -> None:
    a, b, c, d = (Member(f"http://example.com/{name}", 60) for name in "abcd")
    one, other, third = (Member(f"http://example.com/{name}", 60, block="1") for name in "xyz")
    alike = Likeness(0, 1.0)
    pairs = [(one, other), (a, d), (b, c), (c, d), (other, third)]
    assert list(groups_of([Match(*pair, alike) for pair in pairs])) == [[a, d, b, c], [one, other, third]]
