"""scrapy topic: make, show, evaluate and try the profile of a topic."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from archivebot.archive import Archive
from archivebot.cli import ArchiveCommand, print_json, print_table, say
from archivebot.exceptions import NotArchived, UsageError
from archivebot.topic.profile import TopicProfile, load, save
from archivebot.topic.relevance import PageScorer
from archivebot.topic.sources import example, read_examples, read_file, read_folder
from archivebot.topic.training import Example, cross_validated, from_examples, from_words, with_words

SHOWN = 20


class Command(ArchiveCommand):
    """Make the profile of a topic from words, texts, pages or labelled examples; show, evaluate, try it"""

    arguments = "NAME"
    explanation = (
        "A SOURCE is a file, a folder or the URL of an archived page. Pages of the topic alone are enough"
        " to begin with; labelled ones of both kinds train a model. A word with a minus speaks against"
        ' the topic, a number after a colon is its weight: --words "coral reef, diving:2, -casino".'
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--words", metavar="WORDS", help="words of the topic, parted by commas")
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
        if made:
            profile = self._made(name, opts)
            path = save(profile, self._folder)
            if not (opts.json or opts.score):
                say(f"{path}: {_summary(profile)}")
        else:
            if opts.negative:
                raise UsageError("--negative needs pages of the topic too: give --from")
            profile = load(name, self._folder)
        if opts.score:
            return self._score(profile, opts)
        if opts.json:
            print_json(profile.as_dict())
        elif opts.show or not made:
            _show(profile)
        return 0

    @property
    def _folder(self) -> Path:
        assert self.settings is not None, "Scrapy gives every command its settings"
        return Path(self.settings.get("ARCHIVE_TOPICS") or "topics")

    def _made(self, name: str, opts: argparse.Namespace) -> TopicProfile:
        examples = read_examples(Path(opts.examples)) if opts.examples else []
        examples += self._pages(opts.sources, True) + self._pages(opts.negative, False)
        if opts.archive:
            known = {page.source for page in examples}
            with self.archive() as archive:
                examples += [page for page in _archived(archive) if page.source not in known]
        weighted = _weighted(opts.words) if opts.words else {}
        if not examples:
            return from_words(name, weighted)
        profile = from_examples(name, examples)
        return with_words(profile, weighted) if weighted else profile

    def _pages(self, sources: list[str], relevant: bool) -> list[Example]:
        return [page for source in _parted(sources) for page in self._read(source, relevant)]

    def _read(self, source: str, relevant: bool = True) -> Iterator[Example]:
        path = Path(source)
        if path.is_dir():
            yield from read_folder(path, relevant)
        elif path.exists() or "://" not in source:
            yield read_file(path, relevant=relevant)
        else:
            with self.archive() as archive:
                url = archive.resolve(source)
                page = _page(archive, url, relevant)
            if page is None:
                raise NotArchived(f"{url} has no content in the archive: crawl it first")
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
    rows: list[list[Any]] = [
        ["+", f"{weight:.3f}", term] for term, weight in list(profile.terms.items())[:SHOWN]
    ]
    rows += [["-", f"{weight:.3f}", term] for term, weight in list(profile.negative.items())[:SHOWN]]
    print_table(["", "weight", "term"], rows)
