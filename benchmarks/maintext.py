"""Main text of pages compared with trafilatura, resiliparse, readability-lxml and jusText: word F1 and speed.

The data is a folder in the form of WCXB: html/ID.html and ground-truth/ID.json. F1 compares the bags of words
of a page's text and of its annotated main content, and is the mean over pages; pages without an annotation
are left out. Only peers that can be imported run. The built-in weights were learnt from the development pages
of WCXB, among others; learn_maintext.py measures models that saw no page of the site.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from common import data_folder
from ownwords import own_words
from tables import Row, Table, at_least, report

from archivebot.content.page import main_text, read

WORDS = re.compile(r"\w+")

# The bounds: F1 over all pages, and trafilatura's seconds in ours.
LEAST_F1 = 0.867
LEAST_SPEED = 4
QUICK_PEER = "trafilatura"


@dataclass(frozen=True)
class Page:
    """A page with its annotated main content."""

    url: str
    kind: str
    markup: bytes
    main: str


def pages(folder: Path) -> Iterator[Page]:
    for file in sorted((folder / "ground-truth").glob("*.json")):
        truth = json.loads(file.read_text("utf-8"))
        if main := truth["ground_truth"].get("main_content"):
            markup = (folder / "html" / f"{file.stem}.html").read_bytes()
            yield Page(
                truth.get("url") or file.stem, truth["_internal"]["page_type"]["primary"], markup, main
            )


def f1(text: str, main: str) -> float:
    """Return the F1 of two bags of words."""
    found, wanted = (Counter(WORDS.findall(each.lower())) for each in (text, main))
    return 2 * (found & wanted).total() / max(found.total() + wanted.total(), 1)


def trafilatura_text() -> Callable[[str], str]:
    from trafilatura import extract

    return lambda markup: extract(markup) or ""


def resiliparse_text() -> Callable[[str], str]:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda markup: str(extract_plain_text(markup, main_content=True))


def readability_text() -> Callable[[str], str]:
    from lxml.html import fromstring
    from readability import Document

    return lambda markup: str(fromstring(Document(markup).summary()).text_content())


def justext_text() -> Callable[[str], str]:
    import justext

    words = justext.get_stoplist("English")

    def text(markup: str) -> str:
        found = justext.justext(markup.encode(), words)
        return "\n".join(paragraph.text for paragraph in found if not paragraph.is_boilerplate)

    return text


PEERS = {
    "trafilatura": trafilatura_text,
    "resiliparse": resiliparse_text,
    "readability": readability_text,
    "justext": justext_text,
}


def all_text(markup: str) -> str:
    return "\n".join(line.text for line in read(markup)[1].lines)


def own_words_text(markup: str) -> str:
    """The block with the most words of its own, the oldest rule there is."""
    lines = read(markup)[1].lines
    return "\n".join(line.text for line, chosen in zip(lines, own_words(lines), strict=True) if chosen)


@dataclass(frozen=True)
class Result:
    """F1 of each page, and the CPU seconds for all."""

    scores: list[float]
    seconds: float

    def mean(self, chosen: Sequence[bool] | None = None) -> float:
        picked = [s for s, yes in zip(self.scores, chosen, strict=True) if yes] if chosen else self.scores
        return sum(picked) / len(picked)


def measured(extractors: Mapping[str, Callable[[str], str]], data: Sequence[Page]) -> dict[str, Result]:
    """Run all extractors over each page, in turn; a page that one fails on has no text.

    What they loaded for good is taken out of the reach of the garbage collector: whoever is measured when
    it comes by would otherwise pay for all of them.
    """
    scores: dict[str, list[float]] = {name: [] for name in extractors}
    seconds = dict.fromkeys(extractors, 0.0)
    for extract in extractors.values():
        extract("<p>Loaded.")
    gc.collect()
    gc.freeze()
    for page in data:
        markup = page.markup.decode("utf-8", "replace")
        for name, extract in extractors.items():
            started = time.process_time()
            try:
                text = extract(markup)
            except Exception:
                text = ""
            seconds[name] += time.process_time() - started
            scores[name].append(f1(text, page.main))
    return {name: Result(scores[name], seconds[name]) for name in extractors}


def compare(data: Sequence[Page]) -> int:
    peers = {name: make() for name, make in PEERS.items() if find_spec(name)}
    peers["own words"] = own_words_text
    results = measured({"archivebot": main_text, **peers, "all text": all_text}, data)
    columns = [name for name in results if name != "all text"]
    chosen = [results[name] for name in columns]
    ours, best = chosen[0], max(each.mean() for each in chosen[1:])
    rows = [
        Row("word F1", [f"{each.mean():.3f}" for each in chosen], at_least(ours.mean(), LEAST_F1)),
        Row("F1, times the best peer's", (f"{ours.mean() / best:.3f}",), at_least(ours.mean() / best, 1)),
        Row("pages a second", [f"{len(data) / each.seconds:.0f}" for each in chosen]),
    ]
    if QUICK_PEER in peers:
        speed = results[QUICK_PEER].seconds / ours.seconds
        rows.append(
            Row(f"speed, times that of {QUICK_PEER}", (f"{speed:.1f}",), at_least(speed, LEAST_SPEED))
        )
    kinds = [
        kind_row(kind, [page.kind == kind for page in data], results)
        for kind in sorted({page.kind for page in data})
    ]
    return report(
        Table(f"{len(data)} pages", columns, rows),
        Table("word F1 by type", ("archivebot", "all text"), kinds),
        missing=PEERS.keys() - peers.keys(),
    )


def kind_row(kind: str, chosen: Sequence[bool], results: Mapping[str, Result]) -> Row:
    mean, base = (results[name].mean(chosen) for name in ("archivebot", "all text"))
    return Row(kind, (f"{mean:.3f}", f"{base:.3f}"), at_least(mean, round(base, 3)))


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--pages", type=int, help="only so many pages, evenly over the folder")
    options = parser.parse_args()
    data = list(pages(options.data))
    if options.pages:
        data = data[:: max(1, len(data) // options.pages)]
    return compare(data)


if __name__ == "__main__":
    sys.exit(main())
