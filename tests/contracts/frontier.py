"""What every frontier promises; a back end's test module runs it on a URI of its own."""

from __future__ import annotations

import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import astuple, replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from archivebot.exceptions import NotArchived, StorageError
from archivebot.frontier import open_frontier
from archivebot.frontier.base import (
    EXTRA,
    HOLD,
    LOOK,
    Charge,
    Counts,
    Entry,
    Frontier,
    HostCounts,
    Record,
    State,
)
from archivebot.models import Position
from tests.contracts.frontier_workers import (
    CRAWL,
    churn,
    entry,
    flood,
    hold,
    line,
    process,
    said,
    url_of,
    work,
)

# The graph of the references, on which the orders of crawling are told.
BOOK = {"A": "BCDEF", "E": "H", "F": "G", "H": "I"}
IMPORTANCE = {page: float(-rank) for rank, page in enumerate("DBCAEFIGH")}


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = int(time.time()) + 0.25  # processes of the tests have the real time

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds


def wide(frontier: Frontier, *hosts: str) -> Frontier:
    """Let any number of requests to each host be under way at once."""
    for host in hosts or ("example.com",):
        frontier.pace(host, 9999, 0)
    return frontier


def lease_all(frontier: Frontier, slack: float | None = None) -> list[str]:
    """Return the names of the pages in the order in which they are leased, all of them left under way."""
    leases = iter(lambda: frontier.lease(slack=slack), None)
    return [lease.entry.url.rpartition("/")[2] for lease in leases]


def take_all(frontier: Frontier) -> list[str]:
    """Lease and settle until nothing is left, and give the URLs."""
    urls = []
    while lease := frontier.lease():
        urls.append(lease.entry.url)
        assert frontier.settle(lease.entry.url, State.DONE, answered=True)
    return urls


def names(records: Iterator[Record]) -> str:
    return "".join(record.entry.url.rpartition("/")[2] for record in records)


class FrontierContract:
    """The behaviour of a frontier; subclasses give the fixture ``uri`` of an empty one, and ``make``."""

    @pytest.fixture
    def uri(self) -> str:
        raise NotImplementedError

    def make(self, uri: str, crawl: str, patience: float, clock: Callable[[], float]) -> Frontier:
        raise NotImplementedError

    def check(self, uri: str) -> None:
        """Hold what the back end keeps twice against each other."""
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def join(self, uri: str, clock: Clock) -> Iterator[Callable[..., Frontier]]:
        """Open a frontier as one more worker; all are closed at the end."""
        opened = []

        def join_one(crawl: str = CRAWL) -> Frontier:
            opened.append(self.make(uri, crawl, 60, clock))
            return opened[-1]

        yield join_one
        for frontier in opened:
            frontier.close()

    @pytest.fixture
    def frontier(self, join: Callable[..., Frontier]) -> Frontier:
        frontier = join()
        assert frontier.begin("", None) is False
        return frontier

    @pytest.fixture
    def other(self, join: Callable[..., Frontier], frontier: Frontier) -> Frontier:
        """A second worker of the same crawl."""
        other = join()
        assert other.begin("", None) is True
        return other

    @pytest.fixture
    def live(self, uri: str) -> Iterator[Frontier]:
        """A worker that has the time of day, as processes have."""
        live = open_frontier(uri, CRAWL)
        live.begin("", None)
        yield live
        live.close()

    # What is written and read back

    def test_an_empty_frontier_holds_nothing(self, frontier: Frontier) -> None:
        assert frontier.counts() == Counts()
        assert frontier.hosts() == []
        assert list(frontier.records()) == []
        assert frontier.get(url_of("A")) is None
        assert frontier.lease() is None
        assert frontier.due() is None
        assert frontier.release() == frontier.renew() == frontier.retry() == frontier.add([]) == 0

    def test_an_entry_reads_back_as_it_was_written(self, frontier: Frontier) -> None:
        full = Entry(
            "http://例え.jp/路径?问=\"'\\/{}",
            "例え.jp:8080",
            -0.1 - 1e-12,
            '{"meta": {"深度": 1}}',
            "http://中文.example/",
            3,
            '{"anchor": [0.1, null]}',
            "so\nit is\t",
        )
        bare = Entry("http://example.com/", "example.com")
        assert frontier.add([full, bare]) == 2
        for written in (full, bare):
            assert frontier.get(written.url) == Record(written, State.QUEUED)
        assert {record.entry for record in frontier.records()} == {full, bare}
        leases = [frontier.lease(), frontier.lease()]
        assert [lease.entry for lease in leases if lease] == [bare, full]

    def test_a_settled_url_keeps_what_was_said_of_it(self, frontier: Frontier) -> None:
        frontier.add([entry("A", 1.5, source=url_of("S"), parts="{}")])
        frontier.lease()
        assert frontier.settle(
            url_of("A"),
            State.DONE,
            answered=True,
            reason="stored",
            relevance=0.1 + 1e-12,
            relevant=False,
            note='{"备注": 1}',
        )
        assert frontier.get(url_of("A")) == Record(
            entry("A", 1.5, source=url_of("S"), parts="{}", reason="stored"),
            State.DONE,
            1,
            0.1 + 1e-12,
            False,
            '{"备注": 1}',
        )

    def test_calls_made_together_see_each_other(self, frontier: Frontier) -> None:
        with frontier.together():
            frontier.add([entry("a", 1), entry("b", 2)])
            lease = frontier.lease()
            assert lease is not None
            assert frontier.settle(lease.entry.url, State.DONE)
        assert lease.entry == entry("b", 2)
        assert (frontier.counts().queued, frontier.counts().done) == (1, 1)

    @pytest.mark.parametrize("score", [0.0, -1e-300, 1e300, 0.1 + 1e-12, -7.0, 2.0**53 + 2, 1 / 3, math.inf])
    def test_scores_are_kept_to_the_last_bit(self, frontier: Frontier, score: float) -> None:
        frontier.add([entry("A", score)])
        found = frontier.get(url_of("A"))
        assert found is not None
        assert found.entry.score == score
        assert next(frontier.records(State.QUEUED)).entry.score == score

    # Order

    def test_breadth_first_goes_as_in_the_book_row_by_row(self, frontier: Frontier) -> None:
        frontier.add([entry("A")])
        rows = []
        for _ in range(9):
            lease = frontier.lease()
            assert lease is not None
            page = lease.entry.url[-1]
            depth = lease.entry.score - 1
            frontier.add([entry(child, depth) for child in BOOK.get(page, "")])
            frontier.settle(lease.entry.url, State.DONE, answered=True)
            rows.append((page, names(frontier.records(State.QUEUED)), names(frontier.records(State.DONE))))
        assert rows == [
            ("A", "BCDEF", "A"),
            ("B", "CDEF", "AB"),
            ("C", "DEF", "ABC"),
            ("D", "EF", "ABCD"),
            ("E", "FH", "ABCDE"),
            ("F", "HG", "ABCDEF"),
            ("H", "GI", "ABCDEFH"),
            ("G", "I", "ABCDEFHG"),
            ("I", "", "ABCDEFHGI"),
        ]
        assert frontier.lease() is None

    def test_best_first_goes_by_importance(self, frontier: Frontier) -> None:
        frontier.add([entry("A", IMPORTANCE["A"])])
        order = ""
        while lease := frontier.lease():
            best = max(record.entry.score for record in frontier.records(State.QUEUED, State.LEASED))
            assert lease.entry.score == best
            order += lease.entry.url[-1]
            frontier.add([entry(child, IMPORTANCE[child]) for child in BOOK.get(order[-1], "")])
            frontier.settle(lease.entry.url, State.DONE)
        assert order == "ADBCEFGHI"

    def test_of_equals_the_first_goes_first_whatever_its_url_and_host(self, frontier: Frontier) -> None:
        urls = [url_of(name, f"{name}.com") for name in "zmaqb"]
        urls += [url_of(name) for name in "zmaqb"]
        random.Random(1).shuffle(urls)
        frontier.add([Entry(url, str(urlsplit(url).hostname)) for url in urls])
        assert take_all(frontier) == urls

    def test_differences_of_the_last_bit_decide(self, frontier: Frontier) -> None:
        scores = [0.1, 0.1 + 1e-12, math.nextafter(0.1, 1), -0.1, -0.1 - 1e-12, 1e-300, 0.0]
        wide(frontier).add([entry(str(number), score) for number, score in enumerate(scores)])
        expected = sorted(range(len(scores)), key=lambda number: -scores[number])
        assert lease_all(frontier) == list(map(str, expected))

    def test_a_higher_score_moves_a_queued_url_and_brings_its_entry(self, frontier: Frontier) -> None:
        wide(frontier).add([entry("A", 3), entry("B", 2), entry("C", 1, source="first")])
        assert frontier.add([entry("C", 2.5, source="second", parts="{}")]) == 0
        assert frontier.get(url_of("C")) == Record(entry("C", 2.5, source="second", parts="{}"), State.QUEUED)
        assert lease_all(frontier) == ["A", "C", "B"]

    def test_a_score_that_is_not_higher_changes_nothing(self, frontier: Frontier) -> None:
        wide(frontier).add([entry("A", 2, source="first"), entry("B", 2)])
        assert frontier.add([entry("A", 2, source="second"), entry("A", 1, source="third")]) == 0
        assert frontier.get(url_of("A")) == Record(entry("A", 2, source="first"), State.QUEUED)
        assert lease_all(frontier) == ["A", "B"]

    def test_a_raised_url_keeps_its_place_among_equals(self, frontier: Frontier) -> None:
        wide(frontier).add([entry("A", 1), entry("B", 2), entry("C", 2)])
        frontier.add([entry("A", 2)])
        assert lease_all(frontier) == ["A", "B", "C"]

    def test_the_best_host_is_found_after_each_change(self, frontier: Frontier) -> None:
        frontier.add([entry("A", 1, "a.com"), entry("B", 2, "b.com")])
        assert frontier.reprioritise({url_of("A", "a.com"): 3}) == 1
        assert frontier.reprioritise({url_of("A", "a.com"): 3, url_of("C"): 9}) == 0
        assert lease_all(frontier) == ["A", "B"]
        frontier.release()
        assert frontier.reprioritise({url_of("A", "a.com"): -1.5}) == 1
        assert lease_all(frontier) == ["B", "A"]

    def test_what_belongs_to_fetched_pages_comes_first_and_beyond_the_limit(self, frontier: Frontier) -> None:
        wide(frontier).add([entry("A", 1), entry("B", EXTRA), entry("C", EXTRA), entry("D", 2)])
        leases = [frontier.lease(1), frontier.lease(1), frontier.lease(1)]
        assert [lease and lease.entry.url[-1] for lease in leases] == ["B", "C", None]
        for name in "BC":
            assert frontier.settle(url_of(name), State.DONE)
        lease = frontier.lease(1)
        assert lease is not None
        assert lease.entry.url == url_of("D")
        frontier.settle(url_of("D"), State.DONE, answered=True)
        frontier.add([entry("E", EXTRA)])
        assert [bool(frontier.lease(1)), bool(frontier.lease(1))] == [True, False]

    def test_no_url_waits_for_what_belongs_to_fetched_pages(self, frontier: Frontier) -> None:
        frontier.add([entry("A", EXTRA, "a.com"), entry("B", EXTRA, "a.com"), entry("C", 1, "c.com")])
        assert lease_all(frontier, slack=0.5) == ["A", "C"]
        frontier.add([entry("D", 3, "d.com"), entry("E", 3, "d.com"), entry("F", 1, "f.com")])
        assert lease_all(frontier, slack=0.5) == ["D"]

    def test_only_queued_urls_get_new_scores(self, frontier: Frontier) -> None:
        wide(frontier).add([entry("A"), entry("B"), entry("C")])
        frontier.reject([entry("D")])
        frontier.lease(), frontier.lease()
        frontier.settle(url_of("A"), State.DONE)
        assert frontier.reprioritise({url_of(name): 5 for name in "ABCDE"}) == 1
        scores = {record.entry.url[-1]: record.entry.score for record in frontier.records()}
        assert scores == {"A": 0, "B": 0, "C": 5, "D": 0}

    # Known once

    def test_a_url_is_added_once(self, frontier: Frontier, other: Frontier) -> None:
        assert frontier.add([entry("A"), entry("B"), entry("A", 5)]) == 2
        assert other.add([entry("B"), entry("C")]) == 1
        assert frontier.counts() == Counts(queued=3)
        assert len(take_all(frontier)) == 3

    @pytest.mark.parametrize("state", [State.DONE, State.FAILED])
    def test_what_is_settled_or_under_way_is_not_queued_again(self, frontier: Frontier, state: State) -> None:
        frontier.add([entry("A")])
        frontier.lease()
        assert frontier.add([entry("A", 9)]) == 0
        frontier.settle(url_of("A"), state)
        assert frontier.add([entry("A", 9)]) == 0
        assert frontier.lease() is None
        found = frontier.get(url_of("A"))
        assert found is not None
        assert (found.state, found.entry.score) == (state, 0)

    def test_a_budget_has_room_for_so_many_urls_whoever_brings_them(
        self, frontier: Frontier, other: Frontier
    ) -> None:
        def wanted(*numbers: int) -> dict[str, list[Charge]]:
            shared = [Charge("host", 100, "host"), Charge("a/*", 3, "pattern")]
            return {f"http://a.example/{number}": shared for number in numbers}

        assert frontier.charge(wanted(1, 2)) == {}
        frontier.add([Entry(url, "a.example") for url in wanted(1, 2)])
        assert other.charge(wanted(1, 2)) == {}, "they are known"
        assert other.charge(wanted(3, 4, 5)) == {f"http://a.example/{number}": "pattern" for number in (4, 5)}
        other.reject([Entry("http://a.example/4", "a.example", reason="pattern")])
        assert frontier.charge(wanted(4)) == {"http://a.example/4": "pattern"}
        assert frontier.charge({"http://a.example/x": [Charge("host", 4, "host")]}) == {}, "three so far"
        assert frontier.charge({"http://a.example/y": [Charge("host", 4, "host")]}) == {
            "http://a.example/y": "host"
        }
        frontier.spend("other", 7)
        assert other.charge({"http://a.example/z": [Charge("other", 7, "spent")]}) == {
            "http://a.example/z": "spent"
        }

    def test_the_budgets_of_a_crawl_go_with_it(self, frontier: Frontier) -> None:
        frontier.spend("a/*", 5)
        frontier.end("finished")
        frontier.begin("{}", None)
        assert frontier.charge({"http://a.example/1": [Charge("a/*", 5, "pattern")]}) == {}

    def test_a_rejected_url_is_recorded_with_its_reason_and_never_leased(self, frontier: Frontier) -> None:
        assert frontier.reject([entry("A", -1, reason="off topic"), entry("A", reason="twice")]) == 1
        assert frontier.lease() is None
        assert list(frontier.records(State.REJECTED)) == [
            Record(entry("A", -1, reason="off topic"), State.REJECTED)
        ]

    def test_a_rejected_url_is_queued_after_all(self, frontier: Frontier) -> None:
        frontier.reject([entry("A", 5, reason="off topic")])
        assert frontier.add([entry("A", 1, source="better")]) == 0
        assert frontier.get(url_of("A")) == Record(entry("A", 1, source="better"), State.QUEUED)
        assert len(take_all(frontier)) == 1

    def test_a_url_already_known_is_not_rejected(self, frontier: Frontier) -> None:
        frontier.add([entry("A"), entry("B", 1)])
        frontier.lease()
        assert frontier.reject([entry("A"), entry("B"), entry("C")]) == 1
        assert frontier.counts() == Counts(queued=1, leased=1, rejected=1)

    @pytest.mark.long
    def test_processes_that_add_at_once_add_each_url_once(self, frontier: Frontier, uri: str) -> None:
        with (
            process(flood, uri, 0) as one,
            process(flood, uri, 100) as two,
            process(flood, uri, 200) as three,
        ):
            assert sum(int(said(each)) for each in (one, two, three)) == 500
        assert frontier.counts() == Counts(queued=500)
        assert len({record.entry.url for record in frontier.records()}) == 500

    # Hosts

    def test_a_host_gets_one_request_at_a_time(self, frontier: Frontier, other: Frontier) -> None:
        frontier.add([entry("A", 9), entry("B", 8), entry("C", 1, "c.com")])
        assert lease_all(frontier) == ["A", "C"]
        assert other.lease() is None
        assert frontier.due() is None
        frontier.settle(url_of("A"), State.FAILED)
        assert frontier.due() == 0
        assert lease_all(other) == ["B"]

    def test_ports_of_one_name_are_hosts_of_their_own(self, frontier: Frontier) -> None:
        frontier.add(
            [entry(name, host=f"example.com:{port}") for name, port in (("A", 1), ("B", 2), ("C", 1))]
        )
        assert lease_all(frontier) == ["A", "B"]

    def test_a_host_gets_as_many_as_it_may(self, frontier: Frontier) -> None:
        frontier.add([entry(name) for name in "ABCDE"])
        frontier.pace("example.com", 3, 0)
        assert lease_all(frontier) == ["A", "B", "C"]
        frontier.pace("example.com", 4, 0)
        assert lease_all(frontier) == ["D"]
        frontier.pace("example.com", 1, 0)
        frontier.settle(url_of("A"), State.DONE)
        assert frontier.lease() is None

    def test_a_delay_is_kept_between_two_requests_of_all_workers(
        self, frontier: Frontier, other: Frontier, clock: Clock
    ) -> None:
        frontier.pace("example.com", 2, 1.5)
        frontier.add([entry("A"), entry("B"), entry("C"), entry("D", -1, "d.com")])
        assert frontier.due() == 0
        assert lease_all(frontier) == ["A", "D"]
        assert (frontier.due(), other.due()) == (1.5, 1.5)
        clock.move(1)
        assert other.lease() is None
        assert other.due() == 0.5
        clock.move(0.5)
        assert other.due() == 0
        assert lease_all(other) == ["B"]
        assert frontier.due() is None
        clock.move(60)
        assert frontier.due() is None
        other.settle(url_of("B"), State.DONE)
        assert lease_all(frontier) == ["C"]

    def test_a_waiting_host_that_is_better_comes_as_soon_as_it_may(
        self, frontier: Frontier, clock: Clock
    ) -> None:
        frontier.pace("example.com", 1, 10)
        frontier.add([entry("A", 5), entry("B", 5), *(entry(name, 1, "c.com") for name in "CD")])
        assert len(take_all(frontier)) == 3
        frontier.add([entry("E", 1, "c.com")])
        clock.move(10)
        assert lease_all(frontier) == ["B", "E"]

    def test_a_new_delay_counts_from_the_last_request(self, frontier: Frontier, clock: Clock) -> None:
        frontier.add([entry("A"), entry("B")])
        frontier.pace("example.com", 2, 100)
        frontier.lease()
        clock.move(1)
        frontier.pace("example.com", 2, 3)
        assert frontier.due() == 2
        frontier.pace("example.com", 2, 0)
        assert lease_all(frontier) == ["B"]

    def test_a_host_that_was_never_asked_is_ready_whatever_its_delay(self, frontier: Frontier) -> None:
        frontier.add([entry("A")])
        frontier.pace("example.com", 1, 3600)
        assert lease_all(frontier) == ["A"]

    # Holding back

    def test_a_lease_holds_back_for_a_busy_host_that_is_better(
        self, frontier: Frontier, other: Frontier
    ) -> None:
        frontier.add([entry("A", 9), entry("B", 8), entry("C", 1, "c.com")])
        assert lease_all(frontier, slack=2) == ["A"]
        assert other.lease(slack=2) is None
        assert frontier.due() == 0
        frontier.settle(url_of("A"), State.DONE)
        assert lease_all(other, slack=2) == ["B", "C"]

    def test_a_lease_holds_back_for_nothing_within_the_slack(self, frontier: Frontier) -> None:
        frontier.add([entry("A", 9), entry("B", 3), entry("C", 1, "c.com")])
        assert lease_all(frontier, slack=1.9) == ["A"]
        assert lease_all(frontier, slack=2) == ["C"]

    def test_without_slack_a_lease_does_not_hold_back(self, frontier: Frontier) -> None:
        frontier.add([entry("A", 9), entry("B", 8), entry("C", 1, "c.com")])
        assert lease_all(frontier) == ["A", "C"]

    def test_a_lease_holds_back_for_nothing_that_is_not_queued(self, frontier: Frontier) -> None:
        frontier.add([entry("A", 9), entry("B", 8), entry("C", 1, "c.com"), entry("D", 0, "d.com")])
        frontier.lease()
        frontier.forget([url_of("B")])
        assert lease_all(frontier, slack=0) == ["C", "D"]

    def test_a_lease_holds_back_for_the_score_that_a_url_has_now(self, frontier: Frontier) -> None:
        frontier.add([entry("A", 9), entry("B", 8), entry("C", 1, "c.com")])
        frontier.lease()
        frontier.reprioritise({url_of("B"): 0})
        assert lease_all(frontier, slack=0) == ["C"]

    @pytest.mark.parametrize(("delay", "leased"), [(HOLD, ""), (HOLD + 1, "C")])
    def test_a_lease_holds_back_for_a_short_delay_only(
        self, frontier: Frontier, delay: float, leased: str
    ) -> None:
        frontier.pace("example.com", 2, delay)
        frontier.add([entry("A", 9), entry("B", 8), entry("C", 1, "c.com")])
        frontier.lease()
        assert "".join(lease_all(frontier, slack=0)) == leased

    def test_a_lease_holds_back_for_what_is_left_of_a_delay(self, frontier: Frontier, clock: Clock) -> None:
        frontier.pace("example.com", 2, HOLD + 1)
        frontier.add([entry("A", 9), entry("B", 8), *(entry(name, 1, f"{name}.com") for name in "CD")])
        frontier.lease()
        assert frontier.lease(slack=0) is not None
        clock.move(1)
        assert frontier.lease(slack=0) is None
        clock.move(HOLD)
        assert lease_all(frontier, slack=0) == ["B", "D"]

    def test_a_lease_does_not_hold_back_for_a_host_that_does_not_answer(
        self, frontier: Frontier, clock: Clock
    ) -> None:
        frontier.add([entry("A", 9), entry("B", 8), entry("C", 1, "c.com")])
        frontier.lease()
        clock.move(HOLD)
        assert frontier.lease(slack=0) is None
        clock.move(0.25)
        assert lease_all(frontier, slack=0) == ["C"]

    def test_a_host_whose_answer_came_is_asked_again(self, frontier: Frontier, other: Frontier) -> None:
        frontier.add([entry(name) for name in "ABC"])
        assert lease_all(frontier) == ["A"]
        other.mark_arrived([url_of("A")])
        assert lease_all(frontier) == [], "another worker holds it"
        frontier.mark_arrived([url_of("A"), url_of("A"), url_of("B"), url_of("none")])
        assert lease_all(frontier) == ["B"]
        frontier.settle(url_of("A"), State.DONE)
        assert lease_all(frontier) == [], "B is under way"
        frontier.settle(url_of("B"), State.QUEUED)
        assert lease_all(frontier) == ["B"]
        assert frontier.counts().leased == 1

    def test_a_lease_holds_back_for_as_long_as_answers_take(self, frontier: Frontier, clock: Clock) -> None:
        frontier.add([entry("A", 9), entry("B", 8), entry("C", 1, "c.com")])
        frontier.lease()
        clock.move(HOLD + 5)
        assert frontier.lease(slack=0, hold=HOLD + 6) is None
        assert frontier.lease(slack=0, hold=HOLD + 4) is not None

    def test_a_host_with_a_long_delay_hides_no_other(self, frontier: Frontier) -> None:
        slow = [f"{number}.com" for number in range(LOOK - 1)]
        frontier.add([entry(name, 9, host) for host in (*slow, "b.com") for name in "AB"])
        for host in slow:
            frontier.pace(host, 1, 60)
        assert len(lease_all(frontier)) == LOOK
        frontier.add([entry("C", 1, "c.com")])
        assert frontier.lease(slack=0) is None
        frontier.settle(url_of("A", "b.com"), State.DONE)
        assert lease_all(frontier, slack=0) == ["B", "C"]

    # Leases

    def test_a_lease_says_how_many_there_were(self, frontier: Frontier, other: Frontier) -> None:
        wide(frontier).add([entry(name) for name in "ABC"])
        leases = [worker.lease() for worker in (frontier, other, frontier)]
        assert [(lease.order, lease.lost) for lease in leases if lease] == [(1, None), (2, None), (3, None)]

    def test_nothing_is_leased_twice_at_once(self, frontier: Frontier, other: Frontier) -> None:
        wide(frontier).add([entry(str(number)) for number in range(20)])
        assert sorted(lease_all(frontier) + lease_all(other)) == sorted(map(str, range(20)))

    def test_only_its_owner_settles_a_lease_and_only_once(self, frontier: Frontier, other: Frontier) -> None:
        frontier.add([entry("A"), entry("B")])
        frontier.lease()
        assert not other.settle(url_of("A"), State.DONE)
        assert not frontier.settle(url_of("B"), State.DONE)
        assert not frontier.settle(url_of("Z"), State.DONE)
        assert frontier.settle(url_of("A"), State.DONE)
        assert not frontier.settle(url_of("A"), State.FAILED)
        assert frontier.counts() == Counts(queued=1, done=1)

    def test_a_url_put_back_keeps_score_and_place(self, frontier: Frontier) -> None:
        frontier.add([entry("A", 1), entry("B", 1)])
        frontier.lease()
        assert frontier.settle(url_of("A"), State.QUEUED, reason="try again")
        lease = frontier.lease()
        assert lease is not None
        assert (lease.entry.url, lease.order, lease.lost) == (url_of("A"), 2, None)

    def test_a_url_put_back_after_its_page_was_sent_to_the_archive_says_since_when(
        self, frontier: Frontier, clock: Clock
    ) -> None:
        frontier.add([entry("A")])
        first = clock.now
        frontier.lease()
        frontier.mark_followed([url_of("A")])
        clock.move(5)
        assert frontier.settle(url_of("A"), State.QUEUED, reason="the archive is away")
        lease = frontier.lease()
        assert lease is not None
        assert lease.lost == first
        assert frontier.settle(url_of("A"), State.FAILED)
        frontier.retry()
        lease = frontier.lease()
        assert lease is not None
        assert lease.lost is None

    def test_a_lost_lease_says_nothing_before_the_links_of_its_page_are_in(self, frontier: Frontier) -> None:
        wide(frontier).add([entry("A"), entry("B")])
        frontier.lease(), frontier.lease()
        frontier.mark_followed([url_of("B"), url_of("unknown")])
        frontier.release()
        leases = [frontier.lease(), frontier.lease()]
        assert [lease.lost is None for lease in leases if lease] == [True, False]

    def test_released_leases_return_and_say_since_when_they_are_open(
        self, frontier: Frontier, other: Frontier, clock: Clock
    ) -> None:
        wide(frontier).add([entry(name) for name in "ABC"])
        first = clock.now
        frontier.lease(), frontier.lease(), other.lease()
        frontier.mark_followed([url_of("A")])
        assert frontier.release() == 2
        assert frontier.release() == 0
        assert frontier.counts() == Counts(queued=2, leased=1)
        for _ in range(2):
            clock.move(5)
            lease = other.lease()
            assert lease is not None
            assert (lease.entry.url, lease.lost) == (url_of("A"), first)
            other.release()
        lease = frontier.lease()
        assert lease is not None
        frontier.settle(url_of("A"), State.FAILED)
        frontier.retry(State.FAILED)
        lease = frontier.lease()
        assert lease is not None
        assert (lease.entry.url, lease.lost) == (url_of("A"), None)

    def test_leases_of_a_silent_owner_return(self, frontier: Frontier, other: Frontier, clock: Clock) -> None:
        wide(frontier).add([entry("A"), entry("B")])
        other.lease(), other.lease()
        clock.move(60)
        assert frontier.renew() == 0
        assert other.renew() == 0
        clock.move(60)
        assert frontier.renew() == 0
        clock.move(1)
        assert frontier.renew() == 2
        assert not other.settle(url_of("A"), State.DONE)
        assert lease_all(frontier) == ["A", "B"]

    def test_a_lease_is_a_sign_of_life(self, frontier: Frontier, other: Frontier, clock: Clock) -> None:
        wide(frontier).add([entry("A"), entry("B")])
        other.lease()
        clock.move(50)
        other.lease()
        clock.move(50)
        assert frontier.renew() == 0

    def test_a_worker_that_was_taken_for_dead_goes_on(
        self, frontier: Frontier, other: Frontier, clock: Clock
    ) -> None:
        frontier.add([entry("A"), entry("B", host="b.com")])
        other.lease()
        clock.move(100)
        assert frontier.renew() == 1
        assert lease_all(other) == ["A", "B"]
        assert other.settle(url_of("A"), State.DONE)
        assert frontier.counts() == Counts(leased=1, done=1)

    @pytest.mark.long
    def test_leases_of_a_killed_process_return_at_once(self, live: Frontier, uri: str) -> None:
        wide(live).add([entry(name) for name in "ABC"])
        with process(hold, uri) as holder:
            assert json.loads(line(holder)) == [url_of("A"), url_of("B")]
            assert live.renew() == 0
            holder.kill()
        assert live.renew() == 2
        assert lease_all(live) == ["A", "B", "C"]

    @pytest.mark.long
    def test_a_new_worker_takes_over_what_killed_ones_left(self, live: Frontier, uri: str) -> None:
        live.add([entry(name) for name in "AB"])
        wide(live)
        with process(hold, uri) as holder:
            line(holder)
            holder.kill()
        assert live.counts() == Counts(leased=2)
        assert live.begin("", None) is True
        assert live.counts() == Counts(queued=2)

    def test_closing_keeps_leases(self, join: Callable[..., Frontier], frontier: Frontier) -> None:
        frontier.add([entry("A")])
        leaving = join()
        leaving.lease()
        leaving.close()
        assert frontier.counts() == Counts(leased=1)

    @pytest.mark.long
    def test_of_two_workers_one_is_killed_and_no_page_is_lost(self, live: Frontier, uri: str) -> None:
        live.add([entry("0")])
        with process(work, uri, 4, 5) as killed, process(work, uri, 4, 5) as survivor:
            for worker in (killed, survivor):
                assert line(worker) == "ready"
            for worker in (killed, survivor):
                assert worker.stdin is not None
                print(file=worker.stdin, flush=True)
            before = [line(killed) for _ in range(20)]  # empty lines where the other did all the work
            killed.kill()
            before = [*filter(None, before), *said(killed).split()]
            after = said(survivor).split()
        done = [record.entry.url.rpartition("/")[2] for record in live.records(State.DONE)]
        assert len(done) == len(set(done)) == 1 + 4 + 16 + 64 + 256 + 1024
        # The killed worker may have died after it settled a page and before it said so.
        assert len(set(done) - {*before, *after}) <= 1
        assert len(before) + len(after) <= len(done)
        assert live.counts() == Counts(done=len(done), answered=len(done))

    @pytest.mark.long
    def test_workers_killed_at_any_moment_leave_all_in_order(self, live: Frontier, uri: str) -> None:
        chance = random.Random(5)
        with ExitStack() as running:
            workers = [running.enter_context(process(churn, uri, seed)) for seed in range(4)]
            assert [line(worker) for worker in workers] == ["ready"] * 4
            for worker in workers:
                time.sleep(chance.random() / 4)
                worker.kill()
        before = live.counts()
        assert before.leased <= 3
        self.check(uri)
        assert live.renew() == before.leased
        self.check(uri)
        tally = Counter(record.state for record in live.records())
        after = live.counts()
        assert [tally[state] for state in State] == list(astuple(after)[:5])
        assert sum(astuple(after)[:5]) == len({record.entry.url for record in live.records()})
        expected = [record.entry.url for record in live.records(State.QUEUED)]
        for host in live.hosts():
            live.pace(host.host, 9999, 0)
        assert [lease.entry.url for lease in iter(live.lease, None)] == expected

    # Limits and ends

    def test_leases_under_way_count_against_the_limit(self, frontier: Frontier) -> None:
        wide(frontier).add([entry(name) for name in "ABCDEF"])
        assert frontier.lease(0) is None
        assert frontier.lease(2) is not None
        assert frontier.lease(2) is not None
        assert frontier.lease(2) is None
        frontier.settle(url_of("A"), State.FAILED)
        assert frontier.lease(2) is not None
        frontier.settle(url_of("B"), State.DONE, answered=True)
        frontier.settle(url_of("C"), State.DONE, answered=False)
        assert frontier.lease(2) is not None
        assert frontier.lease(2) is None
        assert frontier.counts() == Counts(queued=2, leased=1, done=2, failed=1, answered=1)

    def test_a_crawl_is_over_when_nothing_is_queued_or_leased(self, frontier: Frontier) -> None:
        frontier.add([entry("A")])
        frontier.lease()
        assert frontier.lease() is None
        assert frontier.counts().open == 1
        frontier.add([entry("B")])
        frontier.settle(url_of("A"), State.DONE)
        assert frontier.counts().open == 1
        assert lease_all(frontier) == ["B"]
        frontier.settle(url_of("B"), State.FAILED)
        assert frontier.counts().open == 0

    def test_an_interrupted_crawl_goes_on(self, frontier: Frontier, join: Callable[..., Frontier]) -> None:
        frontier.add([entry("A"), entry("B")])
        frontier.lease()
        frontier.settle(url_of("A"), State.DONE, answered=True)
        frontier.close()
        again = join()
        assert again.begin('{"more": 1}', 9) is True
        assert again.add([entry("A"), entry("B")]) == 0
        assert lease_all(again) == ["B"]
        assert again.crawls()[0].arguments == '{"more": 1}'

    def test_a_crawl_remembers_how_far_its_archive_had_come(
        self, frontier: Frontier, join: Callable[..., Frontier]
    ) -> None:
        assert frontier.relied() is None
        frontier.begin("", None, Position("mine", 3))
        assert frontier.relied() == Position("mine", 3)
        frontier.add([entry("A"), entry("B")])
        for name, position in (("A", 9), ("B", 7)):
            frontier.lease()
            frontier.settle(url_of(name), State.DONE, position=position)
        assert join().relied() == Position("mine", 9)
        assert join("another").relied() is None

    def test_a_crawl_whose_archive_lost_what_it_relied_on_begins_anew(
        self, frontier: Frontier, join: Callable[..., Frontier]
    ) -> None:
        frontier.begin("", None, Position("mine", 9))
        frontier.add([entry("A")])
        again = join()
        assert again.begin("", None, Position("mine", 10), Position("mine", 8)) is True
        relied = again.relied()
        assert relied == Position("mine", 10)
        assert again.begin("", None, Position("other", 1), relied) is False
        assert (again.counts(), again.relied()) == (Counts(), Position("other", 1))
        again.add([entry("B")])
        assert join().begin("", None, Position("other", 1), relied) is True  # who comes second joins
        assert again.counts() == Counts(queued=1)

    def test_a_crawl_that_others_work_on_does_not_begin_anew(
        self, frontier: Frontier, join: Callable[..., Frontier]
    ) -> None:
        frontier.begin("", None, Position("mine", 9))
        frontier.add([entry("A")])
        frontier.lease()
        with pytest.raises(StorageError, match="other workers are at work on it: give all of them the same"):
            join().begin("", None, Position("other", 1), Position("mine", 9))
        assert (frontier.counts(), frontier.relied()) == (Counts(leased=1), Position("mine", 9))
        frontier.release()
        assert join().begin("", None, Position("other", 1), Position("mine", 9)) is False

    def test_who_has_another_archive_never_joins_however_far_the_others_come(
        self, frontier: Frontier, join: Callable[..., Frontier]
    ) -> None:
        frontier.begin("", None, Position("mine", 9))
        frontier.add([entry("A"), entry("B")])
        for name, position in (("A", 10), ("B", 11)):
            frontier.lease()
            for distrusted in (Position("mine", 9), None):
                with pytest.raises(StorageError, match="give all of them the same archive"):
                    join().begin("", None, Position("other", 1), distrusted)
            frontier.settle(url_of(name), State.DONE, position=position)
        assert frontier.counts() == Counts(done=2)
        assert join().begin("", None, Position("mine", 11)) is True

    def test_an_ended_crawl_begins_anew_and_empty(
        self, frontier: Frontier, join: Callable[..., Frontier], clock: Clock
    ) -> None:
        frontier.add([entry("A"), entry("B")])
        assert len(take_all(frontier)) == 2
        frontier.reject([entry("C")])
        frontier.end("finished")
        assert frontier.crawls()[0].ended == "finished"
        clock.move(5)
        again = join()
        assert again.begin("", None) is False
        assert again.counts() == Counts()
        assert again.hosts() == list(again.records()) == []
        assert (again.crawls()[0].began, again.crawls()[0].ended) == (clock.now, "")
        again.add([entry("A")])
        lease = again.lease()
        assert lease is not None
        assert (lease.order, lease.lost) == (1, None)

    @pytest.mark.parametrize(("most", "goes_on"), [(3, True), (None, True), (2, False), (1, False)])
    def test_a_crawl_that_ended_at_its_limit_goes_on_under_a_higher_one(
        self, join: Callable[..., Frontier], most: int | None, goes_on: bool
    ) -> None:
        frontier = join()
        frontier.begin("", 2)
        frontier.add([entry(name) for name in "ABC"])
        for name in "AB":
            frontier.lease(2)
            frontier.settle(url_of(name), State.DONE, answered=True)
        frontier.end("pages")
        again = join()
        assert again.begin("", most) is goes_on
        assert again.counts() == (Counts(queued=1, done=2, answered=2) if goes_on else Counts())

    def test_a_crawl_that_ended_at_its_limit_with_nothing_queued_begins_anew(
        self, join: Callable[..., Frontier]
    ) -> None:
        frontier = join()
        frontier.begin("", 1)
        frontier.add([entry("A")])
        frontier.lease(1)
        frontier.settle(url_of("A"), State.DONE, answered=True)
        frontier.end("pages")
        assert join().begin("", 2) is False

    def test_a_crawl_that_ended_below_its_limit_begins_anew(self, join: Callable[..., Frontier]) -> None:
        frontier = join()
        frontier.begin("", 5)
        frontier.add([entry("A")])
        frontier.end("time")
        assert join().begin("", None) is False

    def test_of_workers_that_begin_at_once_one_empties_the_crawl(
        self, frontier: Frontier, join: Callable[..., Frontier]
    ) -> None:
        frontier.add([entry("A")])
        frontier.end("finished")
        first, second = join(), join()
        assert first.begin("", None) is False
        first.add([entry("B")])
        assert second.begin("", None) is True
        assert lease_all(second) == ["B"]

    def test_nothing_is_written_to_a_crawl_that_was_not_begun(self, join: Callable[..., Frontier]) -> None:
        frontier = join("other")
        for write in (
            lambda: frontier.add([entry("A")]),
            lambda: frontier.reject([entry("A")]),
            lambda: frontier.pace("example.com", 1, 0),
            lambda: frontier.settle(url_of("A"), State.DONE),
            lambda: frontier.reprioritise({url_of("A"): 1}),
            lambda: frontier.forget([url_of("A")]),
            lambda: frontier.end("x"),
            frontier.lease,
            frontier.renew,
            frontier.release,
            frontier.retry,
        ):
            with pytest.raises(StorageError, match="'other' was not begun, "):
                write()
        assert frontier.counts() == Counts()
        assert frontier.due() is None
        assert frontier.crawls() == []

    # What is known

    def test_records_come_state_by_state_in_order(self, frontier: Frontier) -> None:
        wide(frontier, "example.com", "b.com").add(
            [
                entry("A", 1),
                entry("B", 3, "b.com"),
                entry("C", 2),
                entry("D", 3),
                entry("E", 1),
                entry("F", 0),
            ]
        )
        frontier.reject([entry(name) for name in "ZYX"])
        for _ in range(4):
            frontier.lease()
        frontier.settle(url_of("D"), State.DONE)
        frontier.settle(url_of("B", "b.com"), State.DONE)
        frontier.settle(url_of("C"), State.FAILED)
        assert names(frontier.records(State.QUEUED)) == "EF"
        assert names(frontier.records(State.LEASED)) == "A"
        assert names(frontier.records(State.DONE)) == "BD"
        assert names(frontier.records(State.REJECTED)) == "XYZ"
        assert names(frontier.records(State.FAILED, State.QUEUED)) == "CEF"
        assert names(frontier.records()) == "EFABDCXYZ"
        assert names(frontier.records(limit=4)) == "EFAB"
        assert names(frontier.records(State.REJECTED, limit=2)) == "XY"
        assert names(frontier.records(State.REJECTED, limit=0)) == ""
        assert [record.order for record in frontier.records(State.DONE)] == [1, 2]

    def test_many_records_come_in_the_order_of_leasing(self, frontier: Frontier) -> None:
        chance = random.Random(3)
        hosts = ["a.com", "b.com", "c.com"]
        wide(frontier, *hosts)
        frontier.add(
            [entry(str(number), chance.randrange(4), chance.choice(hosts)) for number in range(1200)]
        )
        listed = [record.entry.url for record in frontier.records(State.QUEUED)]
        assert len(listed) == 1200
        assert [lease.entry.url for lease in iter(frontier.lease, None)] == listed

    def test_hosts_are_counted_the_most_queued_first(self, frontier: Frontier) -> None:
        wide(frontier).add([entry(name) for name in "ABCD"])
        frontier.add([*(entry(name, -1, "b.com") for name in "AB"), entry("A", -1, "a.com")])
        frontier.reject([entry("E"), entry("A", 0, "r.com")])
        frontier.pace("empty.com", 1, 0)
        for name, state in zip("AB", (State.DONE, State.FAILED), strict=True):
            frontier.lease()
            frontier.settle(url_of(name), state)
        frontier.lease(), frontier.lease()
        assert frontier.hosts() == [
            HostCounts("b.com", 2, 0, 0, 0, 0),
            HostCounts("a.com", 1, 0, 0, 0, 0),
            HostCounts("example.com", 0, 2, 1, 1, 1),
            HostCounts("r.com", 0, 0, 0, 0, 1),
        ]
        assert frontier.counts() == Counts(queued=3, leased=2, done=1, failed=1, rejected=2)

    # Changes by hand

    def test_forgotten_urls_may_be_added_again(self, frontier: Frontier) -> None:
        wide(frontier).add([entry(name) for name in "ABCD"])
        frontier.reject([entry("R")])
        frontier.lease(), frontier.lease()
        frontier.settle(url_of("A"), State.DONE, answered=True)
        assert frontier.forget([url_of(name) for name in "ABCRZ"]) == 4
        assert frontier.counts() == Counts(queued=1)
        assert frontier.get(url_of("A")) is None
        assert not frontier.settle(url_of("B"), State.DONE)
        assert frontier.add([entry("A")]) == 1
        assert lease_all(frontier) == ["D", "A"]

    def test_a_forgotten_crawl_leaves_nothing(
        self, frontier: Frontier, join: Callable[..., Frontier]
    ) -> None:
        frontier.add([entry("A"), entry("B")])
        frontier.lease()
        assert frontier.forget() == 2
        assert frontier.forget() == 0
        assert frontier.crawls() == []
        assert frontier.counts() == Counts()
        with pytest.raises(StorageError, match="was forgotten"):
            frontier.add([entry("C")])
        assert join().begin("", None) is False

    def test_what_failed_or_was_rejected_is_tried_again(self, frontier: Frontier) -> None:
        wide(frontier).add([entry(name, 5) for name in "ABC"])
        frontier.reject([entry("D", 1, reason="off topic")])
        for name, state in zip("AB", (State.FAILED, State.DONE), strict=True):
            frontier.lease()
            frontier.settle(url_of(name), state, reason="x", answered=state is State.DONE)
        frontier.lease()
        assert frontier.retry(State.FAILED) == 1
        assert frontier.retry(State.FAILED) == 0
        assert frontier.counts() == Counts(queued=1, leased=1, done=1, rejected=1, answered=1)
        assert frontier.retry() == 1
        assert frontier.retry(State.QUEUED, State.LEASED) == 0
        assert lease_all(frontier) == ["A", "D"]
        found = frontier.get(url_of("D"))
        assert found is not None
        assert found.entry == entry("D", 1)
        assert frontier.retry(State.DONE) == 1
        assert frontier.counts() == Counts(queued=1, leased=3)

    def test_an_ended_crawl_of_which_something_is_tried_again_goes_on(
        self, frontier: Frontier, join: Callable[..., Frontier]
    ) -> None:
        frontier.add([entry("A"), entry("B")])
        frontier.lease()
        frontier.settle(url_of("A"), State.DONE)
        frontier.lease()
        frontier.settle(url_of("B"), State.FAILED)
        frontier.end("finished")
        assert join().retry() == 1
        again = join()
        assert again.begin("", None) is True
        assert lease_all(again) == ["B"]

    # Several crawls

    def test_crawls_do_not_meet(
        self, frontier: Frontier, join: Callable[..., Frontier], clock: Clock
    ) -> None:
        clock.move(1)
        second = join("主题: two")
        second.begin("{}", None)
        frontier.add([entry("A"), entry("B")])
        assert second.add([entry("A", 7)]) == 1
        assert lease_all(second) == ["A"]
        assert second.lease() is None
        assert frontier.renew() == frontier.release() == 0
        second.end("finished")
        first_info, second_info = frontier.crawls()[1], frontier.crawls()[0]
        assert (second_info.name, second_info.arguments, second_info.ended) == ("主题: two", "{}", "finished")
        assert (second_info.began, second_info.counts) == (clock.now, Counts(leased=1))
        assert (first_info.name, first_info.began, first_info.counts) == (
            CRAWL,
            clock.now - 1,
            Counts(queued=2),
        )
        assert second.forget() == 1
        assert frontier.counts() == Counts(queued=2)

    def test_the_crawl_begun_last_is_found_by_the_uri(
        self, frontier: Frontier, join: Callable[..., Frontier], clock: Clock, uri: str
    ) -> None:
        clock.move(1)
        join("second").begin("", None)
        for name, expected in ((None, "second"), (CRAWL, CRAWL)):
            found = open_frontier(uri, name, create=False)
            assert found.crawl == expected
            found.close()
        with pytest.raises(NotArchived, match="'third' has no frontier at"):
            open_frontier(uri, "third", create=False)

    def test_where_no_crawl_was_begun_there_is_none_to_read(self, uri: str) -> None:
        for create in (False, True):
            with pytest.raises(
                NotArchived, match=r"no crawl has a frontier at .* start one with: scrapy crawl"
            ):
                open_frontier(uri, None, create=create)

    # Anything in any order

    def test_it_does_what_a_plain_model_does(self, uri: str) -> None:
        class Machine(FrontierMachine):
            make = staticmethod(lambda crawl, clock: self.make(uri, crawl, 60, clock))

        run_state_machine_as_test(
            Machine, settings=settings(max_examples=15, stateful_step_count=30, deadline=None, database=None)
        )


NAMES = st.sampled_from([url_of(name, host) for host in ("a.com", "b.com", "c.com") for name in "xyz"])
SCORES = st.sampled_from([0.0, -1.0, 1.0, 0.1, 0.1 + 1e-12, 5e-324])
ENTRIES = st.builds(lambda url, score: Entry(url, str(urlsplit(url).hostname), score), NAMES, SCORES)


class FrontierMachine(RuleBasedStateMachine):
    """Two workers of one frontier beside a dictionary that is searched from end to end."""

    make: Callable[[str, Callable[[], float]], Frontier]
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).runs += 1
        self.clock = Clock()
        self.workers = [self.make(f"machine {self.runs}", self.clock) for _ in range(2)]
        for worker in self.workers:
            worker.begin("", None)
        self.known: dict[str, dict[str, Any]] = {}
        self.places = self.leases = 0
        self.pace = {host: [1, 0.0, 0.0] for host in ("a.com", "b.com", "c.com")}

    def teardown(self) -> None:
        for worker in self.workers:
            worker.close()

    def _in(self, *states: State) -> list[str]:
        return [url for url, one in self.known.items() if one["state"] in states]

    def _learn(self, new: Entry, state: State) -> None:
        self.places += 1
        self.known[new.url] = {
            "entry": new,
            "state": state,
            "place": self.places,
            "owner": None,
            "since": None,
            "followed": False,
            "arrived": False,
        }

    def _under_way(self, host: str) -> list[str]:
        leased = (url for url in self._in(State.LEASED) if urlsplit(url).hostname == host)
        return [url for url in leased if not self.known[url]["arrived"]]

    def _ready(self) -> list[str]:
        hosts = []
        for host, (concurrency, _, ready_at) in self.pace.items():
            if len(self._under_way(host)) < concurrency and ready_at <= self.clock():
                hosts.append(host)
        return hosts

    @rule(entries=st.lists(ENTRIES, max_size=5))
    def add(self, entries: list[Entry]) -> None:
        new = 0
        for one in entries:
            known = self.known.get(one.url)
            if known is None:
                self._learn(one, State.QUEUED)
                new += 1
            elif known["state"] is State.REJECTED or (
                known["state"] is State.QUEUED and one.score > known["entry"].score
            ):
                known.update(entry=one, state=State.QUEUED)
        assert self.workers[0].add(entries) == new

    @rule(entries=st.lists(ENTRIES, max_size=3))
    def reject(self, entries: list[Entry]) -> None:
        new = 0
        for one in entries:
            if one.url not in self.known:
                self._learn(one, State.REJECTED)
                new += 1
        assert self.workers[1].reject(entries) == new

    @rule(
        worker=st.integers(0, 1),
        most=st.sampled_from([None, None, 3]),
        slack=st.sampled_from([None, None, 0.0, 0.1]),
        hold=st.sampled_from([HOLD, 0.75]),
    )
    def lease(self, worker: int, most: int | None, slack: float | None, hold: float) -> None:
        got = self.workers[worker].lease(most, slack, hold)
        taken = len(self._in(State.LEASED)) + self._answered()
        ready = [url for url in self._in(State.QUEUED) if urlsplit(url).hostname in self._ready()]
        if not ready or (most is not None and taken >= most):
            assert got is None
            return
        best = min(ready, key=lambda url: (-self.known[url]["entry"].score, self.known[url]["place"]))
        known = self.known[best]
        if slack is not None and self._is_worth_waiting(known["entry"].score + slack, hold):
            assert got is None
            return
        self.leases += 1
        assert got is not None
        lost = known["since"] if known["followed"] else None
        assert (got.entry, got.order, got.lost) == (known["entry"], self.leases, lost)
        since = self.clock() if known["since"] is None else known["since"]
        known.update(state=State.LEASED, owner=worker, since=since, arrived=False)
        pace = self.pace[known["entry"].host]
        pace[2] = self.clock() + pace[1]

    def _is_worth_waiting(self, score: float, hold: float) -> bool:
        soon = [host for host, pace in self.pace.items() if abs(pace[2] - self.clock()) <= hold]
        away = [url for url in self._in(State.QUEUED) if urlsplit(url).hostname not in self._ready()]
        return any(self._score(url) > score for url in away if urlsplit(url).hostname in soon)

    def _answered(self) -> int:
        return sum(self.known[url].get("answered", False) for url in self._in(State.DONE))

    @rule(worker=st.integers(0, 1), url=NAMES, state=st.sampled_from(list(State)), answered=st.booleans())
    def settle(self, worker: int, url: str, state: State, answered: bool) -> None:
        if state is State.LEASED:
            return
        known = self.known.get(url, {"state": None, "owner": None})
        held = known["state"] is State.LEASED and known["owner"] == worker
        assert self.workers[worker].settle(url, state, answered=answered, reason="r") is held
        if held:
            known.update(state=state, owner=None, answered=answered)
            known["entry"] = replace(known["entry"], reason="r")
            if state is not State.QUEUED:
                known.update(since=None, followed=False)

    @rule(worker=st.integers(0, 1), url=NAMES)
    def mark_arrived(self, worker: int, url: str) -> None:
        self.workers[worker].mark_arrived([url])
        known = self.known.get(url, {"state": None, "owner": None})
        if known["state"] is State.LEASED and known["owner"] == worker:
            known["arrived"] = True

    @rule(worker=st.integers(0, 1), url=NAMES)
    def mark_followed(self, worker: int, url: str) -> None:
        if self.known.get(url, {}).get("state") is State.LEASED:
            self.workers[worker].mark_followed([url])
            self.known[url]["followed"] = True

    @rule(worker=st.integers(0, 1))
    def release(self, worker: int) -> None:
        assert self.workers[worker].release() == self._put_back(worker)

    def _put_back(self, worker: int) -> int:
        held = [one for one in self.known.values() if one["owner"] == worker]
        for one in held:
            one.update(state=State.QUEUED, owner=None)
        return len(held)

    @rule()
    def one_falls_silent(self) -> None:
        self.workers[0].renew()
        self.workers[1].renew()
        self.clock.move(61)
        assert self.workers[0].renew() == self._put_back(1)

    @rule(seconds=st.sampled_from([0.5, 1.0]))
    def time_passes(self, seconds: float) -> None:
        for worker in self.workers:
            worker.renew()
        self.clock.move(seconds)

    @rule(host=st.sampled_from(["a.com", "b.com"]), most=st.integers(1, 3), delay=st.sampled_from([0.0, 1.0]))
    def paced(self, host: str, most: int, delay: float) -> None:
        self.workers[0].pace(host, most, delay)
        pace = self.pace[host]
        pace[:] = [most, delay, pace[2] - pace[1] + delay]

    @rule(scores=st.dictionaries(NAMES, SCORES, max_size=3))
    def reprioritise(self, scores: dict[str, float]) -> None:
        moved = [url for url in self._in(State.QUEUED) if scores.get(url) not in (None, self._score(url))]
        assert self.workers[0].reprioritise(scores) == len(moved)
        for url in moved:
            self.known[url]["entry"] = replace(self.known[url]["entry"], score=scores[url])

    def _score(self, url: str) -> float:
        return float(self.known[url]["entry"].score)

    @precondition(lambda self: self.known)
    @rule(urls=st.sets(NAMES, max_size=2))
    def forget(self, urls: set[str]) -> None:
        gone = [self.known.pop(url) for url in urls if url in self.known]
        assert self.workers[1].forget(urls) == len(gone)

    @rule(states=st.sets(st.sampled_from([State.DONE, State.FAILED, State.REJECTED])))
    def retry(self, states: set[State]) -> None:
        again = self._in(*(states or (State.FAILED, State.REJECTED)))
        assert self.workers[0].retry(*states) == len(again)
        for url in again:
            self.known[url].update(state=State.QUEUED, answered=False)
            self.known[url]["entry"] = replace(self.known[url]["entry"], reason="")

    @invariant()
    def counts_agree(self) -> None:
        numbers = {str(state): len(self._in(state)) for state in State}
        assert self.workers[0].counts() == Counts(**numbers, answered=self._answered())

    @invariant()
    def records_agree(self) -> None:
        queued = sorted(
            self._in(State.QUEUED),
            key=lambda url: (-self.known[url]["entry"].score, self.known[url]["place"]),
        )
        assert [record.entry.url for record in self.workers[1].records(State.QUEUED)] == queued
        found = {record.entry.url: (record.entry, record.state) for record in self.workers[1].records()}
        assert found == {url: (one["entry"], one["state"]) for url, one in self.known.items()}

    @invariant()
    def due_agrees(self) -> None:
        due = None
        for host, (concurrency, _, ready_at) in self.pace.items():
            queued = [url for url in self._in(State.QUEUED) if urlsplit(url).hostname == host]
            if queued and len(self._under_way(host)) < concurrency:
                wait = max(0.0, ready_at - self.clock())
                due = wait if due is None else min(due, wait)
        assert self.workers[0].due() == due
