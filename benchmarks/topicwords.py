"""How much of a focused crawl by words alone is on topic, beside breadth-first and keywords.

    python benchmarks/topicwords.py FOLDER [TOPIC=WORD,WORD...] [--seed URL] [--requests 32]

FOLDER/topic/host/path holds the pages of a web, with the topic of each. Each topic that has words (four of a
web of documentation sites unless others are given) is crawled from the seed with default settings, without
delays, until R pages are fetched, as many as the topic has. The table shows the share of pages on topic after
R/2 and R pages, beside the same crawl breadth-first and keywords (how many of the words stand in anchor and
URL), simulated on the same pages with one request at a time, and how many hosts of the topic were reached.
All shares are taken from the order of the requests at the server.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Collection, Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import mean

from crawlers import LIMITS, crawl
from sites import read_sites
from tables import Row, Table, at_least, report
from walks import Graph, by_keywords
from webserver import Web

from archivebot.urls import host_of

# The mean of the topics after half as many pages as each has, and after as many; and each topic at the end.
LEAST_HALFWAY, LEAST_MEAN, LEAST_EACH = 0.87, 0.77, 0.62

SEED = "http://dir.test/"
TOPICS = (
    "pysci=scientific,python,array,matrix,statistics,regression,dataframe,numerical,plot,astronomy,symbolic,parallel",
    "openstack=openstack,cloud,compute,tenant,volume,image,identity,network,instance,hypervisor,object,storage",
    "math=algebra,group,polynomial,matrix,integral,theorem,equation,symbolic,number,theory,octave,solver",
    "music=music,score,notes,audio,synthesizer,sound,staff,opcode,oscillator,lyrics,tempo,stream",
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sites", type=Path, metavar="FOLDER", help="FOLDER/topic/host/path")
    parser.add_argument("words", nargs="*", type=_words, metavar="TOPIC=WORD,WORD")
    parser.add_argument("--seed", default=SEED, help=f"the page where each crawl begins ({SEED})")
    parser.add_argument("--requests", type=int, default=LIMITS.requests, help="requests under way")
    options = parser.parse_args()
    web = Web(read_sites(options.sites))
    settings = {"CONCURRENT_REQUESTS": options.requests, "CONCURRENT_REQUESTS_PER_DOMAIN": LIMITS.per_host}
    graph = Graph.of(web, options.seed)
    rows, shares = [], []
    for topic, given in options.words or map(_words, TOPICS):
        relevant = {url for url, page in web.pages.items() if page.label == topic}
        ask = partial(crawl, web, most=len(relevant), settings=settings, seeds=options.seed, topic=given)
        with tempfile.TemporaryDirectory() as place:
            words, breadth = ask(Path(place)), ask(Path(place), order="bfs")
        keywords = graph.walk(by_keywords(given.split(",")))
        found = [_harvest(order, web, relevant) for order in (words, breadth, keywords)]
        shares.append(found[0])
        hosts = {*map(host_of, relevant)}
        reached = hosts.intersection(map(host_of, _fetched(words, web, relevant)))
        cells = [*(f"{share:.3f}" for share in chain.from_iterable(found)), f"{len(reached)} of {len(hosts)}"]
        rows.append(Row(f"{topic} ({len(relevant):,})", cells, at_least(found[0][1], LEAST_EACH)))
        print(f"{topic}: {' '.join(cells)} ({len(words)} requests)", file=sys.stderr)
    halfway, end = map(mean, zip(*shares, strict=True))
    rows.append(Row("mean at R/2", (f"{halfway:.3f}",), at_least(halfway, LEAST_HALFWAY)))
    rows.append(Row("mean at R", ("", f"{end:.3f}"), at_least(end, LEAST_MEAN)))
    orders = "words", "breadth-first", "keywords"
    columns = [f"{order}, {step}" for order in orders for step in ("R/2", "R")]
    title = f"on topic, {len(web.pages):,} pages, {options.requests} requests"
    return report(Table(title, (*columns, "hosts at R"), rows))


def _harvest(asked: Iterable[str], web: Web, relevant: Collection[str]) -> tuple[float, float]:
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
