"""Whether a small edit of a page is found in the one block that holds it.

    python benchmarks/localise.py DATA/history-dev [--pages 20] [--edits 30] [--show 5] [--seed N]

Takes pages of each site, makes one edit at a time directly in their bytes (the text of a paragraph, a list
item, a table row or a date in the footer: one word replaced, words added, or all of a text node rewritten),
stores both versions in a fresh archive and asks for the delta. An edit counts as localised if less than 3 KB
are stored and the delta reports exactly one changed block: the block whose bytes contain the edit. Prints the
share per site and per kind of edit, and the failures by reason. Exit code 1 if not all are localised.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from common import Version, data_folder, read_index
from tables import Row, Table, at_least, report

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import Change, Outcome, Page, PlacedBlock

MOST_STORED = 3000
LEAST_SHARE = 1.0
START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = "amber basalt cedar delta ember fjord granite harbour islet juniper kelp larch meadow nectar".split()

# What no reader sees as text is blanked out before texts are looked for, offsets staying as they are.
_HIDDEN = re.compile(
    rb"<!--.*?-->|<(script|style|title|template|textarea|svg|noscript|head|select|iframe)\b.*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
_TEXT = re.compile(rb">([^<>]*[A-Za-z0-9]{3}[^<>]*)<")
_YEAR = re.compile(rb"\b(?:19|20)\d\d\b")
_WORD = re.compile(rb"(?<![&#\w])[A-Za-z]{3,}(?![\w;])")
_ELEMENTS = {
    "paragraph": re.compile(
        rb"<p\b[^>]*>(?:(?!<p\b|<div\b|<ul\b|<table\b).)*?</p\s*>", re.DOTALL | re.IGNORECASE
    ),
    "list item": re.compile(rb"<li\b[^>]*>(?:(?!<li\b|<ul\b|<ol\b).)*?</li\s*>", re.DOTALL | re.IGNORECASE),
    "table row": re.compile(rb"<tr\b[^>]*>(?:(?!<tr\b|<table\b).)*?</tr\s*>", re.DOTALL | re.IGNORECASE),
}
_FOOTER = re.compile(rb"<footer\b.*?</footer\s*>", re.DOTALL | re.IGNORECASE)
FOOTER_SHARE = 0.1  # of a page without FOOTER, its last part


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes [start, end) of a page replaced by others."""

    kind: str
    mode: str
    start: int
    end: int
    text: bytes

    def apply(self, body: bytes) -> bytes:
        return body[: self.start] + self.text + body[self.end :]


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of one edit; no reason where it was localised."""

    version: Version
    edit: Edit
    stored: int
    reasons: tuple[str, ...]
    detail: str = field(repr=False)


def texts(body: bytes) -> dict[str, list[tuple[int, int]]]:
    """Find the text nodes that can be edited, by the kind of element that holds them."""
    shown = _HIDDEN.sub(lambda match: b" " * len(match[0]), body)
    found = {
        kind: [
            text.span(1)
            for element in pattern.finditer(shown)
            for text in _TEXT.finditer(shown, *element.span())
            if _WORD.search(text[1])
        ]
        for kind, pattern in _ELEMENTS.items()
    }
    found["footer date"] = list(_dates(shown))
    return {kind: spans for kind, spans in found.items() if spans}


def _dates(shown: bytes) -> Iterator[tuple[int, int]]:
    footers = [match.span() for match in _FOOTER.finditer(shown)]
    for start, end in footers or [(int(len(shown) * (1 - FOOTER_SHARE)), len(shown))]:
        for text in _TEXT.finditer(shown, start, end):
            yield from (year.span() for year in _YEAR.finditer(shown, *text.span(1)))


def make_edit(body: bytes, kind: str, span: tuple[int, int], chance: random.Random) -> Edit:
    """Make one random edit of a text node; the letters are ASCII, so it fits every charset but UTF-16."""
    start, end = span
    if kind == "footer date":
        year = int(body[start:end])
        return Edit(kind, "year", start, end, str(year + chance.choice((-1, 1))).encode())
    mode = chance.choice(("word", "words added", "rewritten"))
    if mode == "words added":
        return Edit(kind, mode, end, end, b" " + _words(chance, 4))
    if mode == "rewritten":
        return Edit(kind, mode, start, end, _words(chance, max(1, body[start:end].count(b" ") + 1)))
    word = chance.choice(list(_WORD.finditer(body, start, end)))
    return Edit(kind, mode, *word.span(), _words(chance, 1))


def _words(chance: random.Random, count: int) -> bytes:
    return " ".join(chance.choices(WORDS, k=count)).encode()


def try_edit(archive: Archive, version: Version, number: int, body: bytes, edit: Edit) -> Trial:
    """Store a page and its edited form under a URL of their own, and judge the delta."""
    url = f"{version.url}?trial={number}"
    for day, content in enumerate((body, edit.apply(body))):
        page = Page(
            url, START + timedelta(days=day), Outcome.FETCHED, 200, (("Content-Type", "text/html"),), content
        )
        capture = archive.add(archive.segment(page))
    before, after = archive.version(url, 1), archive.version(url, 2)
    delta = archive.delta(url, before, after)
    changed = [change for change in delta.changes if change.change is not Change.UNCHANGED]
    holders = [
        block
        for block, _ in archive.blocks(after)
        if block.start <= edit.start and edit.start + len(edit.text) <= block.end
    ]
    reasons = list(_reasons([change.change for change in changed], bool(holders)))
    if not reasons and changed[0].lineage != holders[0].lineage:
        reasons.append("another block is named")
    if capture.stored_bytes >= MOST_STORED:
        reasons.append("3 KB or more stored")
    old = {block.lineage: block for block, _ in archive.blocks(before)}
    new = {block.lineage: block for block, _ in archive.blocks(after)}
    detail = "; ".join(
        f"{change.change} {_range(old.get(change.lineage))} -> {_range(new.get(change.lineage))}"
        for change in changed[:6]
    )
    return Trial(version, edit, capture.stored_bytes, tuple(reasons), detail)


def _range(block: PlacedBlock | None) -> str:
    if block is None:
        return "none"
    return f"{block.start}-{block.end} (level {block.level})"


def _reasons(changes: Sequence[Change], held: bool) -> Iterator[str]:
    if not held:
        yield "the edit is in the layout or across blocks"
    elif not changes:
        yield "no block is named"
    if len(changes) > 1:
        counted = ", ".join(f"{n if n < 3 else 'many'} {c}" for c, n in sorted(Counter(changes).items()))
        yield f"more than one block is named: {counted}"


def trials(version: Version, edits: int, chance: random.Random) -> Iterator[Trial]:
    """Try edits of one page, kinds of elements in turn."""
    body = version.file.read_bytes()
    spans = texts(body)
    if not spans:
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{folder}/archive.db"))
        for number in range(edits):
            kind = list(spans)[number % len(spans)]
            edit = make_edit(body, kind, chance.choice(spans[kind]), chance)
            if edit.apply(body) != body:
                yield try_edit(archive, version, number, body, edit)
        archive.close()


def chosen_pages(pages: Iterable[list[Version]], most: int, chance: random.Random) -> list[Version]:
    """Choose pages of each site, of each page one version."""
    sites: dict[str, list[list[Version]]] = defaultdict(list)
    for page in pages:
        sites[page[0].site].append(page)
    return [
        chance.choice(page)
        for site in sorted(sites)
        for page in chance.sample(sites[site], min(most, len(sites[site])))
    ]


def show_failures(failures: Sequence[Trial], most: int) -> None:
    """Print the failures by reason, a few of each."""
    by_reason: dict[str, list[Trial]] = defaultdict(list)
    for trial in failures:
        by_reason[" + ".join(trial.reasons)].append(trial)
    for reason, found in sorted(by_reason.items(), key=lambda entry: -len(entry[1])):
        pages = len({trial.version.url for trial in found})
        print(f"\n{len(found)} on {pages} pages: {reason}")
        spread = {trial.version.url: trial for trial in found}  # one of each page first
        for trial in [*spread.values(), *found][: min(most, len(found))]:
            edit, file = trial.edit, trial.version.file
            old = file.read_bytes()[edit.start : edit.end]
            print(
                f"  {file.parent.parent.name}/{file.parent.name}/{file.name} {edit.kind}, {edit.mode}"
                f" at {edit.start}: {old[:60]!r} -> {edit.text[:60]!r}; {trial.stored} B; {trial.detail}"
            )


def _row(name: str, found: Sequence[Trial], bound: float | None = None) -> Row:
    good = sum(not trial.reasons for trial in found)
    largest = max(trial.stored for trial in found)
    share = good / len(found)
    cells = str(len(found)), str(good), f"{share:.3f}", f"{largest} B"
    return Row(name, cells, None if bound is None else at_least(share, bound))


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--pages", type=int, default=20, help="pages per site")
    parser.add_argument("--edits", type=int, default=30, help="edits per page")
    parser.add_argument("--show", type=int, default=5, help="failures shown per reason")
    parser.add_argument("--seed", type=int, default=20261120)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    versions = chosen_pages(read_index(options.data), options.pages, chance)
    done: list[Trial] = []
    for number, version in enumerate(versions, 1):
        done.extend(trials(version, options.edits, chance))
        print(f"\r{number} of {len(versions)} pages", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    show_failures([trial for trial in done if trial.reasons], options.show)
    rows = [_row(f"site {name}", found) for name, found in _by(done, "site")]
    rows += [_row(name, found) for what in ("kind", "mode") for name, found in _by(done, what)]
    rows.append(_row("all", done, LEAST_SHARE))
    return report(Table("edits", ("made", "localised", "share", "most stored"), rows))


def _by(done: Sequence[Trial], what: str) -> list[tuple[str, list[Trial]]]:
    groups: dict[str, list[Trial]] = defaultdict(list)
    for trial in done:
        groups[trial.version.site if what == "site" else getattr(trial.edit, what)].append(trial)
    return sorted(groups.items())


if __name__ == "__main__":
    sys.exit(main())
