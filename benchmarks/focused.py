"""How early a focused crawl finds the pages of a topic, compared with other orders and a real peer.

    python benchmarks/focused.py DATA/webkb [--crawl4ai PYTHON] [--universities ...] [--topics ...]
    python benchmarks/focused.py DATA/webkb --simulate
    python benchmarks/focused.py --sites FOLDER [--topic NAME] [--seeds URL,URL]
    python benchmarks/focused.py --made
    python benchmarks/focused.py --make FOLDER

WebKB (Craven et al., "Learning to Extract Symbolic Knowledge from the World Wide Web", 1998): pages of
computer science departments in the folders class/university, headers first. Each university is left out
once and each of course, student, faculty, project is the topic once: 12 runs. The pages of the university
left out are a web on loopback, where the crawl starts at the page of the department; the labelled pages
of the others train the topic. URLs outside the set are answered with 404.

The area is that under recall (on-topic pages fetched / on-topic pages that can be reached from the seed) over
the fraction of the reachable pages of the set that were fetched. Requests answered with 404 are no pages of
the set and do not move it, but they count among the 500 fetches in which on-topic pages are counted. Both are
computed from the order of the requests at the server, not from the crawler's own figures. A crawl is ended
once all reachable pages are fetched, Crawl4AI after 500 fetches: later requests change no figure. Random,
keywords (how many of five words stand in anchor and URL) and the oracle (knows whether the target is on
topic) are simulated on the same pages with one request at a time. The five words are the best of the training
pages by chi-square, among those that a tenth of the on-topic pages of each university have. Crawl4AI gets
them, too; PYTHON is the interpreter of an environment that has it.

`--simulate` crawls nothing: our own orders are simulated as well, with up to 32 requests in flight, 8 to a
host, that are answered in turn, those with 404 too. With the training pages the scorer has the link model of
the links among them, and the relevance of a page is its label; with five words the words judge both.

Sites (the experiment of SkyReach): FOLDER/topic/host/path, where the topic `other` is off topic.
Harvest and recall after 500, 1000 ... 4000 pages from the same seeds in several orders; no page is
filtered out. `--make` writes such a folder: 20 topical sites, 60 others, 23,000 pages; `--made` makes it in a
temporary one and crawls that.

Exit code 1 if a bound fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from statistics import mean
from urllib.parse import urlsplit

from crawlers import LIMITS, crawl, crawl4ai, make_topic
from scipy.stats import chi2_contingency
from sites import make, read_sites
from tables import Row, Table, at_least, report
from walks import Graph, by_chance, by_keywords, by_oracle, by_scorer, read_page, recall_area, trained
from webserver import Stored, Web

from archivebot.crawl.arguments import ORDERS
from archivebot.text import words
from archivebot.text.terms import is_meaningful, stem
from archivebot.topic.judge import CrawlJudge
from archivebot.topic.linkscore import LinkScorer
from archivebot.topic.training import Example, from_words
from archivebot.urls import canonical_url

UNIVERSITIES = ("cornell", "texas", "wisconsin")
TOPICS = ("course", "student", "faculty", "project")
LABELS = (*TOPICS, "department", "staff", "other")  # of two files of one URL the first label counts
LEAST_AREA = 0.88
LEAST_BY_WORDS = 1.1  # area by five words to that by keywords
FETCHES = 500
LEAST_RATIO = 2.0  # on-topic pages among the first fetches, ours to Crawl4AI's
SEED = 20261120
LEAST_SHARE = 0.1  # of the on-topic pages of a university have a word of the topic
SEEDS = 3  # of the sites
STEPS = range(500, 4001, 500)

_HEAD = re.compile(rb"\r?\n\r?\n")
_KIND = re.compile(rb"^content-type:\s*([\w/+.-]+)", re.IGNORECASE | re.MULTILINE)
_PORT = re.compile(r"_(?=\d+$)")


@dataclass(frozen=True, slots=True)
class Result:
    """How one order did in one run: its area, and the on-topic pages among its first fetches."""

    area: float
    early: int


@dataclass(frozen=True, slots=True)
class Task:
    """One run: the web of the university left out, and what the topic is."""

    name: str
    topic: str
    graph: Graph
    training: Mapping[str, Sequence[Stored]]
    words: tuple[str, ...]

    @property
    def relevant(self) -> set[str]:
        return self.graph.of_label(self.topic)

    def result(self, order: Sequence[str]) -> Result:
        """Judge the URLs that were asked for, in their order."""
        early = self.relevant.intersection(order[:FETCHES])
        return Result(recall_area(order, self.graph.pages.keys(), self.relevant), len(early))


def read_university(folder: Path, university: str) -> Iterator[Stored]:
    """Yield the pages of a university; a file is named as its URL, ``^`` for ``/`` and ``_`` for ``:``."""
    for label in LABELS:
        for path in sorted((folder / label / university).iterdir()):
            scheme, _, place = path.name.partition("_^^")
            if scheme == "http":
                host, slash, rest = place.replace("^", "/").partition("/")
                url = canonical_url(f"http://{_PORT.sub(':', host)}{slash}{rest}")
                head, body = _HEAD.split(path.read_bytes(), maxsplit=1)
                kind = _KIND.search(head)
                yield Stored(url, label, kind[1].decode().lower() if kind else "text/html", body)


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield the runs: each university left out, each topic."""
    pages = {name: list(read_university(options.data, name)) for name in UNIVERSITIES}
    for name in options.universities:
        (seed,) = [page.url for page in pages[name] if page.label == "department"]
        graph = Graph.of(Web(pages[name]), seed)
        training = {other: pages[other] for other in UNIVERSITIES if other != name}
        for topic in options.topics:
            yield Task(name, topic, graph, training, best_words(training, topic))


def best_words(pages: Mapping[str, Sequence[Stored]], topic: str, count: int = 5) -> tuple[str, ...]:
    """Return the terms whose presence tells most by chi-square that a page is on topic, each as a word.

    A term counts where a tenth of the on-topic pages of each university have it: others are names.
    """
    found = {name: [(terms_of(page).keys(), page.label == topic) for page in pages[name]] for name in pages}
    documents = [document for each in found.values() for document in each]
    relevant = [terms for terms, on_topic in documents if on_topic]
    everywhere, inside = _frequency(terms for terms, _ in documents), _frequency(relevant)
    scores = {}
    for term in set.intersection(*map(_common, found.values())):
        a, c = inside[term], len(relevant) - inside[term]
        b = everywhere[term] - a
        d = len(documents) - a - b - c
        if a * d > b * c:
            scores[term] = chi2_contingency([[a, b], [c, d]], correction=False).statistic
    best = sorted(scores, key=lambda term: (-scores[term], term))[:count]
    forms = Counter(item for each in pages.values() for page in each for item in terms_of(page).items())
    return tuple(max((n, word) for (stem, word), n in forms.items() if stem == term)[1] for term in best)


def _common(documents: Iterable[tuple[Collection[str], bool]]) -> set[str]:
    relevant = [terms for terms, on_topic in documents if on_topic]
    return {term for term, n in _frequency(relevant).items() if n >= LEAST_SHARE * len(relevant)}


def _frequency(documents: Iterable[Collection[str]]) -> Counter[str]:
    return Counter(chain.from_iterable(documents))


@cache
def terms_of(page: Stored) -> dict[str, str]:
    """Return the terms of a page, each with a word that it stands for."""
    found = read_page(page)
    return {stem(word): word for word in words(f"{found.title}\n{found.text}") if is_meaningful(word)}


def simulated(task: Task) -> dict[str, Result]:
    """Walk in the orders that our crawls are held against, with one request at a time."""
    orders = {
        "random": by_chance(SEED),
        "keywords": by_keywords(task.words),
        "oracle": by_oracle(task.relevant),
    }
    return {name: task.result(list(task.graph.walk(order))) for name, order in orders.items()}


def rehearsed(task: Task) -> dict[str, Result]:
    """Walk in the orders of our own crawls, with as many requests in flight."""
    relevant, topic = task.relevant, from_words("words", dict.fromkeys(task.words, 1.0))
    judge = CrawlJudge(topic)
    learnt = trained(chain.from_iterable(task.training.values()), task.topic)
    known = task.graph.web.pages

    def labelled(page: Example) -> float:
        return float(page.source in relevant)

    def judged(page: Example) -> float:
        return judge.judge(page.source, page.title, page.text).value

    orders = {
        "training pages": by_scorer(LinkScorer(learnt), labelled, known),
        "five words": by_scorer(LinkScorer.of(topic), judged, known),
    }
    return {name: task.result(list(task.graph.walk(order, LIMITS))) for name, order in orders.items()}


def train(folder: Path, task: Task) -> None:
    """Make a topic profile of the labelled pages in a folder."""
    lines = []
    for number, page in enumerate(chain.from_iterable(task.training.values())):
        file = folder / f"{number}.html"
        file.write_bytes(page.body)
        lines.append({"url": page.url, "file": str(file), "relevant": page.label == task.topic})
    examples = folder / "examples.jsonl"
    examples.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    make_topic(folder, task.topic, "--examples", str(examples))


def crawled(task: Task) -> dict[str, Result]:
    """Run our own crawls: with the training pages, with five words alone, and breadth-first."""
    web, seed, wanted = task.graph.web, task.graph.seed, task.graph.pages
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        train(folder, task)
        orders = {
            "training pages": crawl(web, folder, wanted, seeds=seed, topic=task.topic),
            "five words": crawl(web, folder, wanted, seeds=seed, topic=" ".join(task.words)),
            "breadth-first": crawl(web, folder, wanted, seeds=seed, topic=task.topic, order="bfs"),
        }
    return {name: task.result(order) for name, order in orders.items()}


def webkb(options: argparse.Namespace) -> int:
    """Do the runs of WebKB and report the areas, and the pages on topic among the first fetches."""
    areas: dict[str, dict[str, float]] = {}
    early: dict[str, dict[str, int]] = {}
    for task in tasks(options):
        name = f"{task.name}, {task.topic}"
        results = (rehearsed if options.simulate else crawled)(task) | simulated(task)
        areas[name] = {order: result.area for order, result in results.items()}
        early[name] = {order: result.early for order, result in results.items()}
        if options.crawl4ai:
            asked = crawl4ai(task.graph.web, task.graph.seed, task.words, options.crawl4ai, FETCHES)
            early[name]["Crawl4AI"] = task.result(asked).early
        print(f"{name}: {' '.join(task.words)}", file=sys.stderr)
    areas["mean"] = {order: mean(each[order] for each in areas.values()) for order in areas[name]}
    early["sum"] = {order: sum(each[order] for each in early.values()) for order in early[name]}
    missing = () if options.crawl4ai or options.simulate else ("Crawl4AI",)
    return report(area_table(areas), early_table(early), missing=missing)


def area_table(areas: Mapping[str, dict[str, float]]) -> Table:
    ours, words, peer = (areas["mean"][name] for name in ("training pages", "five words", "keywords"))
    rows = [Row(name, _figures(each.values())) for name, each in areas.items()]
    rows[-1] = replace(rows[-1], bound=at_least(ours, LEAST_AREA))
    rows.append(
        Row("five words / keywords", ("", f"{words / peer:.3f}"), at_least(words / peer, LEAST_BY_WORDS))
    )
    return Table("area under recall", tuple(areas["mean"]), rows)


def early_table(early: Mapping[str, dict[str, int]]) -> Table:
    rows = [Row(name, list(map(str, each.values()))) for name, each in early.items()]
    found = early["sum"]
    if {"training pages", "Crawl4AI"} <= found.keys():
        ratio = found["training pages"] / max(found["Crawl4AI"], 1)
        rows.append(Row("training pages / Crawl4AI", (f"{ratio:.2f}",), at_least(ratio, LEAST_RATIO)))
    return Table(f"on topic in {FETCHES} fetches", tuple(found), rows)


def _figures(values: Iterable[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]


def sites(folder: Path, options: argparse.Namespace) -> int:
    """Crawl a folder of sites in several orders and report harvest and recall over pages."""
    web = Web(read_sites(folder))
    labels = {page.label for page in web.pages.values()} - {"other"}
    topic = options.topic or min(labels)
    relevant = {url for url, page in web.pages.items() if page.label == topic}
    seeds = options.seeds or ",".join(sorted(url for url in relevant if urlsplit(url).path == "/")[:SEEDS])
    with tempfile.TemporaryDirectory() as place:
        profile = Path(place)
        texts = [profile / f"{number}.html" for number, _ in enumerate(seeds.split(","))]
        for text, url in zip(texts, seeds.split(","), strict=True):
            text.write_bytes(web.pages[url].body)
        make_topic(profile, topic, "--from", ",".join(map(str, texts)))
        orders = {
            order: crawl(web, profile, topic=topic, seeds=seeds, order=order, pages=STEPS[-1])
            for order in options.orders
        }
    harvest, recall = [], []
    for order, asked in orders.items():
        pages = [url for url in dict.fromkeys(asked) if url in web.pages]
        found = [len(relevant.intersection(pages[:step])) for step in STEPS]
        harvest.append(Row(order, _figures(count / step for count, step in zip(found, STEPS, strict=True))))
        recall.append(Row(order, _figures(count / len(relevant) for count in found)))
    steps = tuple(map(str, STEPS))
    return report(
        Table(f"harvest, {len(web.pages):,} pages", steps, harvest),
        Table(f"recall, {len(relevant):,} on topic", steps, recall),
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", help="folder of WebKB: class/university/file")
    parser.add_argument("--universities", nargs="+", choices=UNIVERSITIES, default=UNIVERSITIES)
    parser.add_argument("--topics", nargs="+", choices=TOPICS, default=TOPICS)
    parser.add_argument(
        "--crawl4ai",
        metavar="PYTHON",
        default=os.environ.get("CRAWL4AI"),
        help="run Crawl4AI, too, by this interpreter (that of the environment variable CRAWL4AI)",
    )
    parser.add_argument("--simulate", action="store_true", help="simulate our crawls, too")
    parser.add_argument("--sites", type=Path, metavar="FOLDER", help="crawl a folder of sites with topics")
    parser.add_argument("--made", action="store_true", help="crawl the sites that --make writes")
    parser.add_argument("--topic", help="its topic (the first that is not `other`)")
    parser.add_argument("--seeds", help=f"its seeds (the first {SEEDS} home pages of the topic)")
    parser.add_argument("--orders", nargs="+", choices=ORDERS, default=ORDERS)
    parser.add_argument("--make", type=Path, metavar="FOLDER", help="write a folder of sites and end")
    options = parser.parse_args()
    if options.make:
        print(f"{make(options.make)} pages in {options.make}")
        return 0
    if options.sites:
        return sites(options.sites, options)
    if options.made:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder))
            return sites(Path(folder), options)
    if options.data is None:
        parser.error("name the folder of WebKB, or --sites, --made or --make")
    return webkb(options)


if __name__ == "__main__":
    sys.exit(main())
