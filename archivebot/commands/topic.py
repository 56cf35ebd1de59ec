"""scrapy topic: make, show, evaluate and try the profile of a topic."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from archivebot.archive import Archive
from archivebot.cli import ArchiveCommand, print_json, print_table, say
from archivebot.exceptions import NotArchived, UsageError
from archivebot.models import Capture
from archivebot.topic.profile import TopicProfile, load, save
from archivebot.topic.relevance import PageScorer
from archivebot.topic.sources import example, read_examples, read_file, read_folder
from archivebot.topic.training import (
    Example,
    cross_validated,
    from_examples,
    from_words,
    with_neighbours,
    with_synonyms,
    with_words,
)

SHOWN = 20


class Command(ArchiveCommand):
    """Make the profile of a topic from words, texts, pages or labelled examples; show, evaluate, try it"""

    arguments = "NAME"
    explanation = (
        "A SOURCE is a file, a folder or a URL; a page that is not in the archive is crawled first."
        " Pages of the topic alone are enough to begin with; labelled ones of both kinds train a model."
        " A word with a minus speaks against the topic, a number after a colon is its weight:"
        ' --words "coral reef, diving:2, -casino".'
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--words", metavar="WORDS", help="words of the topic, parted by commas")
        parser.add_argument(
            "--synonyms",
            metavar="WORDS",
            help='rings of words that mean the same, "ferry=boat=ship,line=route"; added to a saved topic',
        )
        parser.add_argument(
            "--from", dest="sources", nargs="+", default=[], metavar="SOURCE", help="pages of the topic"
        )
        parser.add_argument(
            "--negative", nargs="+", default=[], metavar="SOURCE", help="pages that are not of the topic"
        )
        parser.add_argument(
            "--examples",
            metavar="FILE",
            help='JSON lines of {"url", "file", "relevant"} that train the models',
        )
        parser.add_argument(
            "--archive", action="store_true", help="all pages of the archive are of the topic"
        )
        parser.add_argument("--show", action="store_true", help="show the profile")
        parser.add_argument("--evaluate", metavar="FILE", help="cross-validate on labelled examples")
        parser.add_argument("--score", nargs="+", metavar="SOURCE", help="judge pages by the profile")

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        (name,) = args
        if opts.evaluate:
            return _evaluate(opts)
        made = bool(opts.words or opts.sources or opts.examples or opts.archive)
        if opts.negative and not made:
            raise UsageError("--negative needs pages of the topic too: give --from")
        rings = _rings(opts.synonyms or "")
        saved = None if made else with_synonyms(load(name, self.topics), rings)
        self._capture([*opts.sources, *opts.negative, *(opts.score or ())])
        profile = saved or self._made(name, opts, rings)
        if made or rings:
            path = save(profile, self.topics)
            if not (opts.json or opts.score):
                say(f"{path}: {_summary(profile)}")
        if opts.score:
            return self._score(profile, opts)
        if opts.json:
            print_json(profile.as_dict())
        elif opts.show or not (made or rings):
            _show(profile)
        return 0

    def _made(self, name: str, opts: argparse.Namespace, rings: list[tuple[str, ...]]) -> TopicProfile:
        examples = read_examples(Path(opts.examples)) if opts.examples else []
        examples += self._pages(opts.sources, True) + self._pages(opts.negative, False)
        if opts.archive:
            known = {page.source for page in examples}
            with self.archive() as archive:
                examples += [page for page in _archived(archive) if page.source not in known]
        weighted = _weighted(opts.words) if opts.words else {}
        profile = from_examples(name, examples) if examples else from_words(name, weighted)
        if examples and weighted:
            profile = with_words(profile, weighted)
        return with_neighbours(with_synonyms(profile, rings), examples)

    def _capture(self, sources: list[str]) -> None:
        """Crawl what the archive has no content of, by all the rules of a crawl; it tells how that went."""
        missing = [source for source in _parted(sources) if _is_url(source) and not self._has(source)]
        if not missing:
            return
        assert self.crawler_process is not None, "Scrapy gives one to every command that does not refuse it"
        crawl = self.crawler_process.crawl("site", seeds=",".join(missing), scope="page")
        self.crawler_process.start()
        error = crawl.exception() if isinstance(crawl, asyncio.Task) and crawl.done() else None
        if error is not None:
            raise error

    def _has(self, url: str) -> bool:
        try:
            with self.archive() as archive:
                return archive.stored(archive.resolve(url)) is not None
        except NotArchived:
            return False

    def _pages(self, sources: list[str], relevant: bool) -> list[Example]:
        return [page for source in _parted(sources) for page in self._read(source, relevant)]

    def _read(self, source: str, relevant: bool = True) -> Iterator[Example]:
        path = Path(source)
        if path.is_dir():
            yield from read_folder(path, relevant)
        elif not _is_url(source):
            yield read_file(path, relevant=relevant)
        else:
            with self.archive() as archive:
                url = archive.resolve(source)
                page = _page(archive, url, relevant)
                if page is None:
                    raise NotArchived(f"{url} cannot be read: {_reason(archive.captures(url)[-1])}")
            yield page

    def _score(self, profile: TopicProfile, opts: argparse.Namespace) -> int:
        scorer = PageScorer(profile)
        records: list[dict[str, Any]] = []
        for source in _parted(opts.score):
            pages = list(self._read(source))
            for page in pages:
                judged = scorer.score(page.title, page.text)
                terms = [[term, round(weight, 4)] for term, weight in judged.terms]
                name = source if len(pages) == 1 else page.source
                records.append(
                    {
                        "source": name,
                        "relevance": round(judged.value, 4),
                        "relevant": judged.relevant,
                        "terms": terms,
                    }
                )
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


def _parted(sources: list[str]) -> list[str]:
    """Split lists at commas, unless they are in the name of a file."""
    return [
        part
        for source in sources
        for part in ([source] if Path(source).exists() else source.split(","))
        if part
    ]


def _is_url(source: str) -> bool:
    return "://" in source and not Path(source).exists()


def _reason(capture: Capture) -> str:
    """Say why a page brought no content."""
    if capture.location:
        return f"it leads to {capture.location}; give that"
    return f"{capture.outcome}, {capture.reason}" if capture.reason else capture.outcome


def _rings(text: str) -> list[tuple[str, ...]]:
    parts = [part for part in text.split(",") if part.strip()]
    rings = [tuple(word.strip() for word in part.split("=") if word.strip()) for part in parts]
    for part, ring in zip(parts, rings, strict=True):
        if len(ring) < 2:
            raise UsageError(f"--synonyms: {part.strip()!r} needs words that mean the same: ferry=boat=ship")
    return rings


def _weighted(text: str) -> dict[str, float]:
    weights = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        word, _, number = part.lstrip("-").partition(":")
        try:
            weight = float(number or 1)
        except ValueError as error:
            raise UsageError(f"--words: the weight of {word!r} is {number!r}, which is no number") from error
        weights[word] = -weight if part.startswith("-") else weight
    return weights


def _archived(archive: Archive) -> Iterator[Example]:
    for _, url in archive.pages():
        page = _page(archive, url)
        if page is not None:
            yield page


def _page(archive: Archive, url: str, relevant: bool = True) -> Example | None:
    stored = archive.stored(url)
    if stored is None:
        return None
    headers, body = stored
    content_type = next((value for name, value in headers if name.lower() == "content-type"), "")
    return example(body, content_type, url, relevant)


def _evaluate(opts: argparse.Namespace) -> int:
    found = {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in asdict(cross_validated(read_examples(Path(opts.evaluate)))).items()
    }
    if opts.json:
        print_json(found)
    else:
        print_table(list(found), [list(found.values())])
    return 0


def _summary(profile: TopicProfile) -> str:
    models = [name for name in ("page_model", "link_model") if getattr(profile, name)]
    kinds = f"{profile.relevant} pages of the topic, {profile.other} others, " if profile.relevant else ""
    return f"{kinds}{len(profile.terms)} terms, {' and '.join(models).replace('_', ' ') or 'no model'}"


def _show(profile: TopicProfile) -> None:
    say(f"{profile.name}: {_summary(profile)}, relevant from {profile.threshold:.2f}")
    columns = {"+": profile.terms, "-": profile.negative, "~": profile.neighbours}
    rows = [
        [sign, f"{weight:.3f}", term]
        for sign, weights in columns.items()
        for term, weight in list(weights.items())[:SHOWN]
    ]
    rows += [["=", "", " = ".join(ring)] for ring in profile.synonyms]
    print_table(["", "weight", "term"], rows)
