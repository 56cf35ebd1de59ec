"""How much of a focused crawl is on topic, by words, example pages or labelled pages, beside other orders.

    python benchmarks/topicwords.py FOLDER [TOPIC=WORD,WORD...] [--seed URL] [--only words ...]

FOLDER/topic/host/path holds the pages of a web, with the topic of each. Each topic that has words (four of a
web of documentation sites unless others are given) is crawled from the seed with default settings, without
delays, until R pages are fetched, as many as the topic has: by its words, by ten drawn pages (``--from``), by
twenty drawn pages of the topic and twenty others, and breadth-first. The crawl by words is repeated with 8
requests under way instead of 32, and with a storing process that runs for a tenth of the time only (Linux).
Keywords (how many of the words stand in anchor and URL) are simulated on the same pages with one request at a
time. The cells are the shares of pages on topic after R/2 and after R pages, and how many hosts of the topic
the crawl by words reached. All shares are taken from the order of the requests at the server. ``--only``
leaves out crawls.

A crawl by pages counts as below the words if the mean of its shares is lower by more than the noise: two
crawls with the same topic and settings differ by about as much, because the order of the answers decides what
is learnt first.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from statistics import mean

from crawlers import LIMITS, crawl, make_topic
from sites import read_sites
from tables import Row, Table, at_least, at_most, report
from walks import Graph, by_keywords
from webserver import Stored, Web

from archivebot.urls import host_of

# The mean of the topics after half as many pages as each has, and after as many; and each topic at the end.
LEAST_HALFWAY, LEAST_MEAN, LEAST_EACH = 0.87, 0.77, 0.62
LEAST_HOSTS = 0.75  # of the topics, reached by the crawls with words
MOST_APART = 0.05  # shares with 32 requests, and with slow storing, from those with 8
NOISE = 0.03

FEW_REQUESTS = 8
SLOW = 0.1  # share of the time for which the storing process runs
FROM, LABELLED = 10, 20  # pages drawn
DRAW = 20261124
NAME = "drawn"

SEED = "http://dir.test/"
TOPICS = (
    "pysci=scientific,python,array,matrix,statistics,regression,dataframe,numerical,plot,astronomy,symbolic,parallel",
    "openstack=openstack,cloud,compute,tenant,volume,image,identity,network,instance,hypervisor,object,storage",
    "math=algebra,group,polynomial,matrix,integral,theorem,equation,symbolic,number,theory,octave,solver",
    "music=music,score,notes,audio,synthesizer,sound,staff,opcode,oscillator,lyrics,tempo,stream",
)


Shares = tuple[float, float]
Crawl = Callable[..., list[str]]  # a crawl of one web, which still lacks a folder and the topic


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sites", type=Path, metavar="FOLDER", help="FOLDER/topic/host/path")
    parser.add_argument("words", nargs="*", type=_words, metavar="TOPIC=WORD,WORD")
    parser.add_argument("--seed", default=SEED, help=f"the page where each crawl begins ({SEED})")
    parser.add_argument("--only", nargs="+", choices=CRAWLS, default=list(CRAWLS), help="crawls to run")
    options = parser.parse_args()
    web = Web(read_sites(options.sites))
    graph = Graph.of(web, options.seed)
    shares: dict[str, dict[str, Shares]] = {}
    hosts: dict[str, tuple[int, int]] = {}
    for topic, given in options.words or map(_words, TOPICS):
        relevant = {url for url, page in web.pages.items() if page.label == topic}
        ask = partial(crawl, web, most=len(relevant), seeds=options.seed)
        orders = {}
        for name in options.only:
            with tempfile.TemporaryDirectory() as place:
                orders[name] = CRAWLS[name](ask, Path(place), web, topic, given)
        if "words" in orders:
            reached = {*map(host_of, relevant)} & {*map(host_of, _fetched(orders["words"], web, relevant))}
            hosts[topic] = len(reached), len({*map(host_of, relevant)})
        orders["keywords"] = list(graph.walk(by_keywords(given.split(","))))
        shares[topic] = {name: _harvest(order, web, relevant) for name, order in orders.items()}
        print(f"{topic}: {shares[topic]} hosts {hosts.get(topic)}", file=sys.stderr)
    return report(_table(f"on topic, {len(web.pages):,} pages", shares, hosts))


def _by_words(ask: Crawl, folder: Path, _web: Web, _topic: str, words: str) -> list[str]:
    return ask(folder, settings=_requests(LIMITS.requests), topic=words)


def _by_words_slowly(ask: Crawl, folder: Path, _web: Web, _topic: str, words: str) -> list[str]:
    return ask(folder, settings=_requests(FEW_REQUESTS), storing=SLOW, topic=words)


def _by_few_requests(ask: Crawl, folder: Path, _web: Web, _topic: str, words: str) -> list[str]:
    return ask(folder, settings=_requests(FEW_REQUESTS), topic=words)


def _breadth_first(ask: Crawl, folder: Path, _web: Web, _topic: str, words: str) -> list[str]:
    return ask(folder, settings=_requests(LIMITS.requests), topic=words, order="bfs")


def _by_pages(ask: Crawl, folder: Path, web: Web, topic: str, _words: str) -> list[str]:
    files = _written(folder, drawn(web, topic, FROM, 0))
    make_topic(folder, NAME, "--from", *(line["file"] for line in files))
    return ask(folder, settings=_requests(LIMITS.requests), topic=NAME)


def _by_labelled(ask: Crawl, folder: Path, web: Web, topic: str, _words: str) -> list[str]:
    pages = drawn(web, topic, LABELLED, LABELLED)
    lines = [
        {**line, "relevant": page.label == topic}
        for page, line in zip(pages, _written(folder, pages), strict=True)
    ]
    examples = folder / "examples.jsonl"
    examples.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    make_topic(folder, NAME, "--examples", str(examples))
    return ask(folder, settings=_requests(LIMITS.requests), topic=NAME)


CRAWLS = {
    "words": _by_words,
    "--from": _by_pages,
    "labelled": _by_labelled,
    "breadth-first": _breadth_first,
    "words, 8 requests": _by_few_requests,
    "words, slow": _by_words_slowly,
}


def drawn(web: Web, topic: str, relevant: int, other: int) -> list[Stored]:
    """Draw pages of a topic and other pages, the same in each run."""
    chance = Random(f"{DRAW} {topic} {relevant} {other}")
    pages = sorted(web.pages.values(), key=lambda page: page.url)
    on_topic = [page for page in pages if page.label == topic]
    off_topic = [page for page in pages if page.label != topic]
    return chance.sample(on_topic, relevant) + chance.sample(off_topic, other)


def _written(folder: Path, pages: Sequence[Stored]) -> list[dict[str, str]]:
    """Write pages as files; return the URL and the file of each."""
    lines = []
    for number, page in enumerate(pages):
        file = folder / f"{number}.html"
        file.write_bytes(page.body)
        lines.append({"url": page.url, "file": str(file)})
    return lines


def _requests(number: int) -> dict[str, object]:
    return {"CONCURRENT_REQUESTS": number, "CONCURRENT_REQUESTS_PER_DOMAIN": LIMITS.per_host}


def _table(
    title: str, shares: Mapping[str, Mapping[str, Shares]], hosts: Mapping[str, tuple[int, int]]
) -> Table:
    names = list(next(iter(shares.values())))
    rows = []
    for topic, found in shares.items():
        cells = [_cell(found[name]) for name in names]
        bound = None
        if topic in hosts:
            cells.append("{} of {}".format(*hosts[topic]))
            bound = at_least(found["words"][1], LEAST_EACH)
        rows.append(Row(topic, cells, bound))
    means = {
        name: tuple(map(mean, zip(*(each[name] for each in shares.values()), strict=True))) for name in names
    }
    rows.append(Row("mean", [_cell(means[name]) for name in names]))
    if hosts:
        halfway, end = means["words"]
        rows.append(Row("words, mean at R/2", (f"{halfway:.3f}",), at_least(halfway, LEAST_HALFWAY)))
        rows.append(Row("words, mean at R", (f"{end:.3f}",), at_least(end, LEAST_MEAN)))
        reached = min(found / number for found, number in hosts.values())
        rows.append(Row("words, hosts", (f"{reached:.0%}",), at_least(reached, LEAST_HOSTS)))
    rows += _compared(means)
    return Table(title, (*(f"{name}, R/2 and R" for name in names), "hosts at R"), rows)


def _compared(means: Mapping[str, Sequence[float]]) -> list[Row]:
    """Return the crawls by pages beside that by words, and those under load beside that with 8 requests."""
    rows = []
    for name in ("--from", "labelled"):
        if {name, "words"} <= means.keys():
            more = mean(means[name]) - mean(means["words"])
            rows.append(Row(f"{name} less words", (f"{more:+.3f}",), at_least(more, -NOISE)))
    calm = means.get("words, 8 requests")
    for name, label in {"words": "32 requests and 8", "words, slow": "slow storing and 8 requests"}.items():
        if calm and name in means:
            apart = max(abs(one - other) for one, other in zip(means[name], calm, strict=True))
            rows.append(Row(f"{label}, apart", (f"{apart:.3f}",), at_most(apart, MOST_APART)))
    return rows


def _cell(found: Sequence[float]) -> str:
    return " ".join(f"{share:.3f}" for share in found)


def _harvest(asked: Iterable[str], web: Web, relevant: Collection[str]) -> Shares:
    """Return the share of pages on topic after half as many pages as the topic has, and after all."""
    order = _fetched(asked, web, relevant)
    on_topic = [url in relevant for url in order]
    return mean(on_topic[: len(relevant) // 2]), mean(on_topic)


def _fetched(asked: Iterable[str], web: Web, relevant: Collection[str]) -> list[str]:
    """Return the pages that were asked for, each once, up to as many as the topic has."""
    pages: dict[str, None] = {}
    for url in asked:
        if url in web.pages:
            pages[url] = None
        if len(pages) == len(relevant):
            break
    return list(pages)


def _words(given: str) -> tuple[str, str]:
    topic, _, words = given.partition("=")
    if not words:
        raise argparse.ArgumentTypeError("give a topic with its words, as TOPIC=WORD,WORD")
    return topic, words


if __name__ == "__main__":
    sys.exit(main())
