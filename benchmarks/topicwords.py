"""How much of a focused crawl is on topic, by words, example pages or labelled pages, beside other orders.

    python benchmarks/topicwords.py FOLDER [TOPIC=WORD,WORD...] [--seed URL] [--only words ...] [--keep FILE]

FOLDER/topic/host/path holds the pages of a web, with the topic of each. Each topic that has words (four of a
web of documentation sites unless others are given) is crawled from the seed with default settings, without
delays, until R pages are fetched, as many as the topic has: by its words, by ten drawn pages (``--from``, the
mean of three draws), by twenty drawn pages of the topic and twenty others, and breadth-first. The crawl by
words is repeated with 8 requests under way instead of 32, and with a storing process that runs for a tenth of
the time only (Linux). Keywords (how many of the words stand in anchor and URL) are simulated on the same
pages with one request at a time. The cells are the shares of pages on topic after R/2 and after R pages, and
how many hosts of the topic the crawl by words reached. All shares are taken from the order of the requests
at the server. ``--only`` leaves out crawls.

A second table has what ``scrapy harvest --labels`` prints after each crawl: the share of the judged pages
that the crawl took for pages of the topic, the share that is, and the Brier score of their relevance.

Each kind of crawl runs for all topics before the next kind begins. A run that is interrupted prints the table
of the crawls that ended, and has exit code 1. ``--keep`` adds the result of each crawl to a file, and crawls
whose results are in the file are not run again.

A crawl by pages counts as below the words if the mean of its shares is lower by more than the noise: two
crawls with the same topic and settings differ by about as much, because the order of the answers decides what
is learnt first.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from statistics import mean

from crawlers import LIMITS, checked, crawl, make_topic
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
MOST_FLATTERY = 0.05  # harvest rate as judged less that by the labels, mean of the topics

FEW_REQUESTS = 8
SLOW = 0.1  # share of the time for which the storing process runs
FROM, LABELLED = 10, 20  # pages drawn
SEED_OF_DRAWS = 20261124
DRAWS = {"--from": 3}
NAME = "drawn"
KEYWORDS = "keywords"

SEED = "http://dir.test/"
TOPICS = (
    "pysci=scientific,python,array,matrix,statistics,regression,dataframe,numerical,plot,astronomy,symbolic,parallel",
    "openstack=openstack,cloud,compute,tenant,volume,image,identity,network,instance,hypervisor,object,storage",
    "math=algebra,group,polynomial,matrix,integral,theorem,equation,symbolic,number,theory,octave,solver",
    "music=music,score,notes,audio,synthesizer,sound,staff,opcode,oscillator,lyrics,tempo,stream",
)


Shares = tuple[float, ...]  # on topic after half as many pages as the topic has, and after as many
Check = tuple[float, ...]  # harvest rate as judged and by the labels, and Brier score
Crawl = Callable[..., list[str]]  # a crawl of one web, which still lacks a folder and the topic


@dataclass(frozen=True, slots=True)
class Result:
    """What one crawl reached: its shares on topic, how many of the hosts of the topic, and its own judgement
    beside the labels, if it judged pages.
    """

    topic: str
    words: str
    crawl: str
    draw: int
    shares: Shares
    hosts: tuple[int, int]
    check: Check | None = None

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.topic, self.words, self.crawl, self.draw


@dataclass(slots=True)
class Results:
    """The results of all crawls that ended; each is added to a file as well, if there is one."""

    file: Path | None
    found: dict[tuple[str, str, str, int], Result] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.file and self.file.exists():
            for line in self.file.read_text("utf-8").splitlines():
                read = json.loads(line)
                read |= {key: tuple(each) for key, each in read.items() if isinstance(each, list)}
                result = Result(**read)
                self.found[result.key] = result

    def add(self, result: Result) -> None:
        self.found[result.key] = result
        print(
            f"{result.topic}, {result.crawl} {result.draw}: {result.shares} {result.hosts} {result.check}",
            file=sys.stderr,
        )
        if self.file:
            with self.file.open("a", encoding="utf-8") as lines:
                print(json.dumps(asdict(result)), file=lines)

    def shares(self, name: str, topic: str, words: str) -> Shares | None:
        """Return the mean over all draws of a crawl, or None if some did not end."""
        draws = [self.found.get((topic, words, name, draw)) for draw in range(DRAWS.get(name, 1))]
        ended = [each.shares for each in draws if each]
        return _mean(ended) if len(ended) == len(draws) else None

    def check(self, name: str, topic: str, words: str) -> Check | None:
        """Return the mean over all draws of how a crawl judged, or None if some did not end or judge."""
        draws = [self.found.get((topic, words, name, draw)) for draw in range(DRAWS.get(name, 1))]
        judged = [each.check for each in draws if each and each.check]
        return _mean(judged) if len(judged) == len(draws) else None

    def hosts(self, topic: str, words: str) -> tuple[int, int] | None:
        found = self.found.get((topic, words, "words", 0))
        return found.hosts if found else None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sites", type=Path, metavar="FOLDER", help="FOLDER/topic/host/path")
    parser.add_argument("words", nargs="*", type=_words, metavar="TOPIC=WORD,WORD")
    parser.add_argument("--seed", default=SEED, help=f"the page where each crawl begins ({SEED})")
    parser.add_argument("--only", nargs="+", choices=CRAWLS, default=list(CRAWLS), help="crawls to run")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="results to take up and to add to")
    options = parser.parse_args()
    web = Web(read_sites(options.sites))
    topics = dict(options.words or map(_words, TOPICS))
    results = Results(options.keep)
    names = [*options.only, KEYWORDS]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _measure(results, web, topics, names, options.seed)
    except KeyboardInterrupt:
        table = _table(f"on topic, {len(web.pages):,} pages", results, topics, names)
        print(f"\n{table.markdown()}\n\nInterrupted: the crawls without a figure did not end.")
        return 1
    return report(
        _table(f"on topic, {len(web.pages):,} pages", results, topics, names),
        _judgement(results, topics, names),
    )


def _measure(results: Results, web: Web, topics: Mapping[str, str], names: Sequence[str], seed: str) -> None:
    """Run all crawls that have no result yet, one kind after the other."""
    graph = None
    for name in sorted(names, key=[*CRAWLS, KEYWORDS].index):
        for draw, (topic, words) in product(range(DRAWS.get(name, 1)), topics.items()):
            known = results.found.get((topic, words, name, draw))
            if known and (known.check or name == KEYWORDS):
                continue
            relevant = {url for url, page in web.pages.items() if page.label == topic}
            check = None
            if name == KEYWORDS:
                graph = graph or Graph.of(web, seed)
                order = list(graph.walk(by_keywords(words.split(","))))
            else:
                with tempfile.TemporaryDirectory() as place:
                    archive = Path(place) / "archive.db"
                    ask = partial(crawl, web, most=len(relevant), archive=archive, seeds=seed)
                    order = CRAWLS[name](ask, Path(place), web, topic, words, draw)
                    check = checked(archive, {url: url in relevant for url in web.pages})
            fetched = _fetched(order, web, relevant)
            on_topic = [url in relevant for url in fetched]
            shares = mean(on_topic[: len(relevant) // 2]), mean(on_topic)
            there = {*map(host_of, relevant)}
            hosts = len(there & {*map(host_of, fetched)}), len(there)
            results.add(Result(topic, words, name, draw, shares, hosts, check))


def _by_words(ask: Crawl, folder: Path, _web: Web, _topic: str, words: str, _draw: int) -> list[str]:
    return ask(folder, settings=_requests(LIMITS.requests), topic=words)


def _by_words_slowly(ask: Crawl, folder: Path, _web: Web, _topic: str, words: str, _draw: int) -> list[str]:
    return ask(folder, settings=_requests(FEW_REQUESTS), storing=SLOW, topic=words)


def _by_few_requests(ask: Crawl, folder: Path, _web: Web, _topic: str, words: str, _draw: int) -> list[str]:
    return ask(folder, settings=_requests(FEW_REQUESTS), topic=words)


def _breadth_first(ask: Crawl, folder: Path, _web: Web, _topic: str, words: str, _draw: int) -> list[str]:
    return ask(folder, settings=_requests(LIMITS.requests), topic=words, order="bfs")


def _by_pages(ask: Crawl, folder: Path, web: Web, topic: str, _words: str, draw: int) -> list[str]:
    files = _written(folder, drawn(web, topic, FROM, 0, draw))
    make_topic(folder, NAME, "--from", *(line["file"] for line in files))
    return ask(folder, settings=_requests(LIMITS.requests), topic=NAME)


def _by_labelled(ask: Crawl, folder: Path, web: Web, topic: str, _words: str, draw: int) -> list[str]:
    pages = drawn(web, topic, LABELLED, LABELLED, draw)
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
    "words, 8 requests": _by_few_requests,
    "words, slow": _by_words_slowly,
    "--from": _by_pages,
    "labelled": _by_labelled,
    "breadth-first": _breadth_first,
}


def drawn(web: Web, topic: str, relevant: int, other: int, draw: int) -> list[Stored]:
    """Draw pages of a topic and other pages, the same in each run with the same number."""
    chance = Random(f"{SEED_OF_DRAWS} {draw} {topic} {relevant} {other}")
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


def _table(title: str, results: Results, topics: Mapping[str, str], names: Sequence[str]) -> Table:
    rows = []
    reached = []
    for topic, words in topics.items():
        cells = [_cell(results.shares(name, topic, words)) for name in names]
        bound = None
        hosts, shares = results.hosts(topic, words), results.shares("words", topic, words)
        if "words" in names and hosts and shares:
            cells.append("{} of {}".format(*hosts))
            reached.append(hosts[0] / hosts[1])
            bound = at_least(shares[1], LEAST_EACH)
        rows.append(Row(topic, cells, bound))
    means: dict[str, Shares] = {}
    for name in names:
        found = [results.shares(name, topic, words) for topic, words in topics.items()]
        if ended := [each for each in found if each]:
            means |= {name: _mean(ended)} if len(ended) == len(found) else {}
    rows.append(Row("mean", [_cell(means.get(name)) for name in names]))
    if "words" in means:
        halfway, end = means["words"]
        rows.append(Row("words, mean at R/2", (f"{halfway:.3f}",), at_least(halfway, LEAST_HALFWAY)))
        rows.append(Row("words, mean at R", (f"{end:.3f}",), at_least(end, LEAST_MEAN)))
        rows.append(Row("words, hosts", (f"{min(reached):.0%}",), at_least(min(reached), LEAST_HOSTS)))
    rows += _compared(means)
    return Table(title, (*(f"{name}, R/2 and R" for name in names), "hosts at R"), rows)


def _judgement(results: Results, topics: Mapping[str, str], names: Sequence[str]) -> Table:
    """Return a row for each crawl with its harvest rate as judged and by the labels, and its Brier score.

    The bound is on how much more than is true the crawls claim, by the mean of the topics.
    """
    rows = []
    for name in names:
        found = [results.check(name, topic, words) for topic, words in topics.items()]
        ended = [each for each in found if each]
        if not ended:
            continue
        more = mean(judged - true for judged, true, _ in ended)
        cells = ["{:.3f} {:.3f} {:.3f}".format(*each) if each else "" for each in found]
        rows.append(Row(name, (*cells, f"{more:+.3f}"), at_most(more, MOST_FLATTERY)))
    return Table("harvest, by labels, Brier score", (*topics, "harvest less labels, mean"), rows)


def _compared(means: Mapping[str, Shares]) -> list[Row]:
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


def _mean(figures: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(map(mean, zip(*figures, strict=True)))


def _cell(found: Shares | None) -> str:
    return " ".join(f"{share:.3f}" for share in found or ())


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
