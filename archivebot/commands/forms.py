"""scrapy forms: which forms of a page search, and which of them query a database."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from archivebot.cli import ArchiveCommand, print_json, print_table
from archivebot.exceptions import UsageError
from archivebot.forms.classifier import FormClassifier
from archivebot.forms.domains import Domains
from archivebot.forms.form import Form
from archivebot.forms.reader import file_charset, read_forms
from archivebot.forms.record import names
from archivebot.forms.rules import LEAST_FIELDS


class Command(ArchiveCommand):
    """Tell which forms of HTML files search"""

    arguments = "--classify FILE..."
    most = 1_000_000
    explanation = (
        "Each form of each file is one row, in the order of the page. A form that searches and has several"
        " fields to fill is a query interface. Forms are judged as they are written; none is submitted."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--classify", action="store_true", help="judge the forms of files")
        parser.add_argument("--model", type=Path, metavar="FILE", help="weights other than those that ship")
        parser.add_argument(
            "--fields",
            type=int,
            default=LEAST_FIELDS,
            metavar="N",
            help=f"fields that a query interface has at least ({LEAST_FIELDS})",
        )

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        if not opts.classify:
            raise UsageError("write: scrapy forms --classify FILE...")
        if opts.fields < 1:
            raise UsageError(f"--fields is {opts.fields}: give 1 or more")
        classifier = FormClassifier.load(opts.model) if opts.model else FormClassifier.shipped()
        found = list(records(args, classifier, opts.fields))
        if opts.json:
            print_json(found)
        else:
            show(found)
        return 0


def records(names: Sequence[str], classifier: FormClassifier, least: int) -> Iterator[dict[str, Any]]:
    """Judge the forms of files, once all of them are known to be there."""
    for name in names:
        if not Path(name).is_file():
            raise UsageError(f"{name} is no file")
    domains = Domains.shipped()
    for name in names:
        body = _body(name)
        for index, form in enumerate(read_forms(body, file_charset(body))):
            yield {"source": name, "index": index, **record(form, classifier, domains, least)}


def record(form: Form, classifier: FormClassifier, domains: Domains, least: int) -> dict[str, Any]:
    """Give what is printed of a form."""
    decision = classifier.decide(form, least)
    return {
        "search": decision.search,
        "score": round(decision.score, 4),
        "multi_field": decision.multi_field,
        "domain": domains.of(form).name if decision.search else None,
        "reason": decision.reason,
        "fields": [
            {"label": attribute.label, "controls": names(attribute.controls)} for attribute in form.attributes
        ],
    }


def _body(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from error


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
