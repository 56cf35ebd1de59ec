"""scrapy topic: make, show, evaluate and try the profile of a topic."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, print_json, print_table, run_crawl
from archivebot.exceptions import NotArchived, UsageError
from archivebot.jobs.examples import archived_example, archived_examples
from archivebot.jobs.sites import site_clusters
from archivebot.markup.contenttype import content_type
from archivebot.markup.media import media_of
from archivebot.records import evaluation_record, relevance_record, sites_record
from archivebot.terminal import note, write
from archivebot.text.terms import terms
from archivebot.topic.clusters import ALIKE
from archivebot.topic.evaluation import Evaluation
from archivebot.topic.profile import TopicProfile, load, path_of, save
from archivebot.topic.relevance import PageScorer
from archivebot.topic.rings import Ring, read_rings
from archivebot.topic.selection import SCORES, Score
from archivebot.topic.sources import read_examples, read_file, read_folder
from archivebot.topic.training import (
    Example,
    cross_validated,
    evaluated,
    from_examples,
    from_text,
    with_neighbours,
    with_synonyms,
    with_text,
)
from archivebot.units import amount

SHOWN = 20
SELECTED = "chi-square"

# The options that are about one topic, and not about the sites of the archive.
OF_TOPIC = (
    *("words", "synonyms", "from", "negative", "examples", "archive", "show", "replace", "evaluate"),
    *("cross-validate", "select", "score"),
)

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_BEFORE_URL = re.compile(rf",(?={_URL.pattern})", re.IGNORECASE)


class Command(ArchiveCommand):
    """Make the profile of a topic from words, texts, pages or labelled examples; show, evaluate, try it"""

    arguments = "NAME"
    least, most = 0, 1
    explanation = (
        "A SOURCE is a file, a folder or a URL; a page that is not in the archive is crawled first."
        " Pages of the topic alone are enough to begin with; labelled ones of both kinds train a model."
        " A word with a minus speaks against the topic, a number after a colon is its weight:"
        ' --words "coral reef, diving:2, -casino".'
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--words",
            metavar="WORDS",
            help='words of the topic, separated by commas, or a query as "(port OR ferry) AND NOT airport"',
        )
        parser.add_argument(
            "--synonyms",
            metavar="WORDS",
            help='rings of words that mean the same, or nearly, as "ferry=boat=raft:0.5,line=route"',
        )
        parser.add_argument(
            "--from", dest="sources", nargs="+", default=[], metavar="SOURCE", help="pages of the topic"
        )
        parser.add_argument(
            "--negative", nargs="+", default=[], metavar="SOURCE", help="pages that are not on the topic"
        )
        parser.add_argument(
            "--examples",
            metavar="FILE",
            help='JSON lines of {"url", "file", "relevant"} that train the models',
        )
        parser.add_argument(
            "--archive", action="store_true", help="take all archived pages as pages of the topic"
        )
        parser.add_argument("--show", action="store_true", help="show the profile")
        parser.add_argument("--replace", action="store_true", help="overwrite an existing topic")
        parser.add_argument("--evaluate", metavar="FILE", help="judge labelled examples by the topic")
        parser.add_argument(
            "--cross-validate",
            action="store_true",
            help="judge each example by a topic made from the others; save nothing",
        )
        parser.add_argument(
            "--select",
            choices=[name.replace("_", "-") for name in SCORES],
            help=f"how the words of the model are selected ({SELECTED})",
        )
        parser.add_argument(
            "--sites", action="store_true", help="cluster the sites of the archive by topic; takes no NAME"
        )
        parser.add_argument(
            "--alike", type=float, metavar="C", help=f"cosine from which sites are one cluster ({ALIKE})"
        )
        parser.add_argument("--score", nargs="+", metavar="SOURCE", help="judge pages by the profile")

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        if opts.sites:
            return self._sites(args, opts)
        if opts.alike is not None:
            raise UsageError("--alike is for clusters of sites: give --sites as well")
        if not args:
            raise UsageError(f"write: scrapy topic {self.syntax()}")
        return self._topic(args[0], opts)

    def _topic(self, name: str, opts: argparse.Namespace) -> int:
        """Make, change, show or try the named topic."""
        # Wrong arguments are reported before anything is fetched.
        _check(opts)
        made = self._is_made(path_of(name, self.topics), opts)
        score = SCORES[(opts.select or SELECTED).replace("-", "_")]
        rings = read_rings(opts.synonyms) if opts.synonyms else []
        if opts.words:
            from_text(name, opts.words)
        labelled = read_examples(Path(opts.examples)) if opts.examples else []
        judged = read_examples(Path(opts.evaluate)) if opts.evaluate else []
        if opts.evaluate and not judged:
            raise UsageError(f"{opts.evaluate} has no examples to judge")
        saved = None if made else with_synonyms(load(name, self.topics), rings)
        self._capture([*opts.sources, *opts.negative, *(opts.score or ())])
        examples = self._examples(opts, labelled)
        if opts.cross_validate:
            return _tabulate(cross_validated(examples, score=score), opts)
        profile = saved or _made(name, opts.words, examples, rings, score)
        _warn_of_idle(profile, rings)
        if made or rings:
            path = save(profile, self.topics)
            if not (opts.json or opts.score or opts.evaluate):
                write(f"{path}: {_summary(profile)}")
        if opts.evaluate:
            return _tabulate(evaluated(profile, judged), opts)
        if opts.score:
            return self._score(profile, opts)
        if opts.json:
            print_json(profile.as_dict())
        elif opts.show or not (made or rings):
            _show(profile)
        return 0

    def _sites(self, args: list[str], opts: argparse.Namespace) -> int:
        alike = ALIKE if opts.alike is None else opts.alike
        if args:
            raise UsageError(f"--sites is about all sites of the archive: leave out {args[0]!r}")
        for option in OF_TOPIC:
            if getattr(opts, "sources" if option == "from" else option.replace("-", "_")):
                raise UsageError(f"--{option} is about one topic: leave out --sites, or --{option}")
        if not 0 <= alike <= 1:
            raise UsageError(f"--alike is {alike}: give a number from 0 to 1")
        with self.archive() as archive:
            found = site_clusters(archive, alike)
            if not found:
                raise NotArchived(f"{archive.uri} has no pages with words")
        if opts.json:
            print_json([sites_record(n, cluster) for n, cluster in enumerate(found, 1)])
            return 0
        rows = [[n, " ".join(each.sites), ", ".join(each.terms)] for n, each in enumerate(found, 1)]
        print_table(["cluster", "sites", "terms"], rows)
        return 0

    def _is_made(self, path: Path, opts: argparse.Namespace) -> bool:
        """Return whether the options make a new topic. Raises UsageError if they must not."""
        made = bool(opts.words or opts.sources or opts.examples or opts.archive)
        if opts.negative and not (opts.sources or opts.examples or opts.archive):
            raise UsageError("--negative needs pages of the topic too: give --from")
        if made and path.exists() and not (opts.replace or opts.cross_validate):
            raise UsageError(f"{path} is a topic already: give --replace to write over it, or another name")
        return made

    def _examples(self, opts: argparse.Namespace, labelled: list[Example]) -> list[Example]:
        """Return labelled examples and the pages that the options name."""
        examples = labelled + self._pages(opts.sources, True) + self._pages(opts.negative, False)
        if not opts.archive:
            return examples
        known = {page.source for page in examples}
        with self.archive() as archive:
            urls = (url for _, url in archive.pages() if url not in known)
            return examples + list(archived_examples(archive, urls))

    def _capture(self, sources: list[str]) -> None:
        """Crawl the sources that are not archived yet, by all the rules of a crawl, and print the results."""
        missing = [source for source in _parted(sources) if _URL.match(source) and not self._has(source)]
        if not missing:
            return
        assert self.crawler_process is not None, "Scrapy gives one to every command that does not refuse it"
        with TemporaryDirectory() as folder:
            seeds = Path(folder, "seeds.txt")  # in the argument itself a comma would separate two seeds
            seeds.write_text("\n".join(missing), "utf-8")
            run_crawl(self.crawler_process, "site", seeds=f"@{seeds}", scope="page")

    def _has(self, url: str) -> bool:
        try:
            with self.archive() as archive:
                return archive.stored(archive.resolve(url)) is not None
        except NotArchived:
            return False

    def _pages(self, sources: list[str], relevant: bool) -> list[Example]:
        return [page for source in _parted(sources) for page in self._read(source, relevant)]

    def _read(self, source: str, relevant: bool = True) -> Iterator[Example]:
        if _URL.match(source):
            yield self._archived_page(source, relevant)
        elif os.path.isdir(source):
            yield from read_folder(Path(source), relevant)
        elif not os.path.exists(source):
            raise UsageError(
                f"there is no file {source!r}: give a file, a folder or a URL; words go to --words"
            )
        else:
            yield read_file(Path(source), relevant=relevant)

    def _archived_page(self, source: str, relevant: bool) -> Example:
        with self.archive() as archive:
            url = archive.resolve(source)
            page = archived_example(archive, url, relevant=relevant)
            if page is None:
                raise NotArchived(f"{url} cannot be read: {_reason(archive, url)}")
        return page

    def _score(self, profile: TopicProfile, opts: argparse.Namespace) -> int:
        scorer = PageScorer(profile)
        records: list[dict[str, Any]] = []
        for source in _parted(opts.score):
            pages = list(self._read(source))
            for page in pages:
                name = source if len(pages) == 1 else page.source
                records.append(relevance_record(name, scorer.score(page.title, page.text)))
        if opts.json:
            print_json(records)
            return 0
        rows = [
            [
                f"{record['relevance']:.4f}",
                "yes" if record["relevant"] else "no",
                record["source"],
                ", ".join(str(term) for term, _ in record["terms"][:6]),
            ]
            for record in records
        ]
        print_table(["relevance", "relevant", "source", "terms"], rows)
        return 0


def _check(opts: argparse.Namespace) -> None:
    """Raise UsageError if an option would have no effect beside another one."""
    idle = {"cross_validate": ("words", "synonyms", "evaluate", "score"), "evaluate": ("score",)}
    for first, others in idle.items():
        for name in others if getattr(opts, first) else ():
            if getattr(opts, name):
                raise UsageError(f"--{name} has no effect on --{first.replace('_', '-')}: give one of them")


def _made(
    name: str,
    words: str | None,
    examples: list[Example],
    rings: list[Ring],
    score: Score,
) -> TopicProfile:
    if words and not examples:
        profile = from_text(name, words)
    else:
        profile = from_examples(name, examples, score)
        profile = with_text(profile, words) if words else profile
    return with_neighbours(with_synonyms(profile, rings), examples)


def _parted(sources: list[str]) -> Iterator[str]:
    """Split lists at commas, unless they are in a URL or in the name of a file."""
    # Path.exists raises if a list is too long for a file name.
    for source in sources:
        for part in _BEFORE_URL.split(source):
            yield from [part] if _URL.match(part) or os.path.exists(part) else filter(None, part.split(","))


def _reason(archive: ArchiveReader, url: str) -> str:
    """Return why a page has nothing to read."""
    if stored := archive.stored(url):
        found, body = stored
        return f"it is {media_of(body, content_type(found.headers)).name}, neither HTML nor plain text"
    capture = archive.captures(url)[-1]
    if capture.location:
        return f"it leads to {capture.location}; give that"
    return f"{capture.outcome}, {capture.reason}" if capture.reason else capture.outcome


def _warn_of_idle(profile: TopicProfile, rings: list[Ring]) -> None:
    """Print the rings of synonyms without a word of the topic: they have no effect."""
    known = profile.signed.keys() | profile.stands_for.keys()
    for ring in rings:
        if known.isdisjoint(chain.from_iterable(map(terms, ring.words))):
            note(f"scrapy topic: {ring} has no word of the topic yet")


def _tabulate(evaluation: Evaluation, opts: argparse.Namespace) -> int:
    found = evaluation_record(evaluation)
    if opts.json:
        print_json(found)
    else:
        print_table(list(found), [list(found.values())])
    return 0


def _summary(profile: TopicProfile) -> str:
    models = [name for name in ("page_model", "link_model") if getattr(profile, name)]
    pages = f"{amount(profile.relevant, 'page')} of the topic, {amount(profile.other, 'other')}, "
    known = f"{pages if profile.relevant else ''}{amount(len(profile.terms), 'term')}"
    return f"{known}, {' and '.join(models).replace('_', ' ') or 'no model'}"


def _show(profile: TopicProfile) -> None:
    write(f"{profile.name}: {_summary(profile)}, relevant from {profile.threshold:.2f}")
    columns = {"+": profile.terms, "-": profile.negative, "~": profile.neighbours}
    rows = [
        [sign, f"{weight:.3f}", term]
        for sign, weights in columns.items()
        for term, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
    ]
    rows += [["=", "", " = ".join(ring)] for ring in profile.synonyms]
    rows += [["?", "", profile.query.text]] if profile.query else []
    print_table(["", "weight", "term"], rows)
