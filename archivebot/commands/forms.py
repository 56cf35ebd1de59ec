"""scrapy forms: the forms that an archive keeps, and which forms of a page search or query a database."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from archivebot.archive import Archive, ArchiveReader
from archivebot.cli import ArchiveCommand, file_body, named_files, print_json, print_table, writing
from archivebot.exceptions import NotArchived, UsageError
from archivebot.forms.classifier import FormClassifier
from archivebot.forms.domains import Domains
from archivebot.forms.form import Form
from archivebot.forms.history import FormVersion
from archivebot.forms.reader import read_forms
from archivebot.forms.rules import LEAST_FIELDS
from archivebot.jobs.forms import Scanned, kept_forms, scan_all
from archivebot.markup.media import media_of
from archivebot.records import judged_form_record, kept_form_record
from archivebot.terminal import json_text, note
from archivebot.topic.training import profile_of

OF_ARCHIVE = ("site", "domain", "export", "scan", "topic", "strict")
OF_FILES = ("model", "domains", "fields")


class Command(ArchiveCommand):
    """List the forms that the archive keeps, find them in its pages, or judge those of files"""

    arguments = "[--classify FILE...]"
    least, most = 0, 1_000_000
    explanation = (
        "A form that searches and has several fields to fill is a query interface. Forms are judged as they"
        " are written; none is submitted. With --classify each form of each file is shown, in order of the"
        " page."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--site", metavar="HOST", help="only the forms of one site: its host, or a URL")
        parser.add_argument("--domain", metavar="NAME", help="only forms about a subject, such as books")
        parser.add_argument("--export", type=Path, metavar="FILE", help="write JSON lines, with all pages")
        parser.add_argument("--scan", action="store_true", help="first find the forms in all archived pages")
        parser.add_argument("--topic", metavar="NAME", help="scan only pages on this topic")
        parser.add_argument("--strict", action="store_true", help="scan only pages linked as search forms")
        parser.add_argument("--classify", action="store_true", help="judge the forms of files")
        parser.add_argument("--model", type=Path, metavar="FILE", help="replaces the built-in weights")
        parser.add_argument(
            "--domains",
            type=Path,
            metavar="FILE",
            help='JSON lines of {"file", "domain"}: pages with forms of a domain, to learn from',
        )
        parser.add_argument(
            "--fields",
            type=int,
            metavar="N",
            help=f"minimum number of fields of a query interface ({LEAST_FIELDS})",
        )

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        _check(opts)
        if not opts.classify:
            if args:
                raise UsageError("write: scrapy forms, or scrapy forms --classify FILE...")
            self._scan(opts)
            return super().work(args, opts)
        if not args:
            raise UsageError("name the files: scrapy forms --classify FILE...")
        least = LEAST_FIELDS if opts.fields is None else opts.fields
        if least < 1:
            raise UsageError(f"--fields is {least}: give 1 or more")
        classifier = FormClassifier.load(opts.model) if opts.model else FormClassifier.shipped()
        domains = taught(opts.domains, classifier) if opts.domains else Domains.shipped()
        found = list(records(args, classifier, domains, least))
        if opts.json:
            print_json(found)
        else:
            show(found)
        return 0

    def _scan(self, opts: argparse.Namespace) -> None:
        """With --scan, find the forms in archived pages and store them."""
        if opts.scan:
            topic = profile_of(opts.topic, self.topics) if opts.topic else None
            with Archive.open(self.config, create=False) as archive:
                _print_scanned(scan_all(archive, self.config, topic, strict=opts.strict))
        elif opts.topic or opts.strict:
            raise UsageError("--topic and --strict choose the pages of a scan: give --scan as well")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        found = kept_forms(archive, opts.site, opts.domain)
        if opts.export:
            _export(archive, found, opts.export)
        if opts.json:
            print_json(list(map(kept_form_record, found)))
        if not found:
            advice = "" if opts.scan else "; scrapy forms --scan looks into its pages"
            raise NotArchived(f"{archive.uri} keeps no such form{advice}")
        if not opts.export and not opts.json:
            _show_kept(found)
        return 0


def _check(opts: argparse.Namespace) -> None:
    """Raise UsageError if an option is for forms of the archive and not of files, or the other way round."""
    kept, files = "that the archive keeps: leave out --classify", "of files: give --classify as well"
    for name in OF_ARCHIVE if opts.classify else OF_FILES:
        value = getattr(opts, name)
        if value is not None and value is not False:  # 0 is a value
            raise UsageError(f"--{name} is for forms {kept if opts.classify else files}")


def _print_scanned(found: Scanned) -> None:
    note(f"pages read: {found.pages}; forms that search, seen on them: {found.forms}")
    if found.damaged:
        note(f"versions left out, as they could not be read: {found.damaged}; see scrapy verify")


def _export(archive: ArchiveReader, found: Sequence[FormVersion], path: Path) -> None:
    """Write a line of JSON for each form; raises UsageError if the file cannot be written."""
    with writing(path), path.open("w", encoding="utf-8") as file:
        for kept in found:
            file.write(json_text(kept_form_record(kept, _pages(archive, kept))) + "\n")


def _pages(archive: ArchiveReader, form: FormVersion) -> list[tuple[str, datetime, datetime]]:
    return archive.forms.pages(form.kept.site, form.kept.form.signature)


def _show_kept(found: Sequence[FormVersion]) -> None:
    print_table(
        ["id", "form", "version", "fields", "domain", "first", "last", "pages", "leads to"],
        (
            [
                kept.id,
                "query" if kept.record.decision.multi_field else "search",
                f"{kept.version}/{kept.versions}",
                len(kept.record.attributes),
                kept.record.domain or None,
                kept.kept.first.date(),
                kept.kept.last.date(),
                kept.kept.pages,
                f"{kept.record.method.upper()} {kept.record.action}",
            ]
            for kept in found
        ),
    )


def taught(path: Path, classifier: FormClassifier) -> Domains:
    """Return domains that have learnt from the forms of labelled pages that search; raises UsageError."""
    labelled: list[tuple[str, Form]] = []
    for line in filter(str.strip, file_body(path).decode("utf-8-sig", "replace").split("\n")):
        try:
            example = json.loads(line)
            page, name = path.parent / example["file"], str(example["domain"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f'{path}: write {{"file": ..., "domain": ...}} in each line') from error
        labelled += [(name, form) for form in _forms(page) if classifier.decide(form).search]
    return Domains.shipped().taught(labelled)


def _forms(path: Path) -> Sequence[Form]:
    body = file_body(path)
    media = media_of(body, saved=True)
    return read_forms(body, media.charset) if media.is_page else ()


def records(
    names: Sequence[str], classifier: FormClassifier, domains: Domains, least: int
) -> Iterator[dict[str, Any]]:
    """Judge the forms of files, once all of them are known to be there."""
    for path in named_files(names):
        for index, form in enumerate(_forms(path)):
            decision = classifier.decide(form, least)
            domain = domains.of(form).name if decision.search else None
            yield {"source": str(path), "index": index, **judged_form_record(form, decision, domain)}


def show(found: Sequence[dict[str, Any]]) -> None:
    """Print a row for each form."""
    print_table(
        ["source", "index", "form", "score", "fields", "domain", "reason"],
        (
            [
                form["source"],
                form["index"],
                "query" if form["multi_field"] else "search" if form["search"] else "other",
                f"{form['score']:.2f}",
                len(form["fields"]),
                form["domain"],
                form["reason"],
            ]
            for form in found
        ),
    )
