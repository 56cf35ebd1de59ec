"""Blocks compared with blocks marked by hand: level-1 F of the outline, of partitions, of a peer.

DATA is the unpacked folder blocks-random (Kreuzer, Hage, Feelders, "A quantitative comparison of semantic web
page segmentation approaches", ICWE 2015). The marked page is cut, after the marks are removed: the other two
files of a site often hold another page or another charset. A found block matches a marked block, each used
once, if the word sets of their texts have a Jaccard similarity of at least 0.8. Precision, recall and F are
taken per page and averaged over pages. Blocks without words (pictures) cannot be compared and are left out on
both sides; --wordless counts them as missed. --visual also cuts the pages as a browser lays them out, a
second for each.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import data_folder
from tables import Row, Table, at_least, report
from turbohtml import parse

from archivebot.labels.labeller import label_blocks
from archivebot.markup import tree
from archivebot.markup.dom import visible_text
from archivebot.markup.media import media_of
from archivebot.markup.tree import Source
from archivebot.models import Block
from archivebot.segmentation.outline import outline
from archivebot.segmentation.segmenter import partition
from archivebot.text import words
from archivebot.vision.render import Browser
from archivebot.vision.vips import segment as divided

LEAST_F = 0.45
ALIKE = 0.8
LEVELS = (1, 2, 3, 4)
MARK = re.compile(rb'\sdata-block(?:-type)?="[^"]*"')

# What the people called a block, and our labels that say the same. People name what stands in a head or
# foot by its form; a label says that it is head or foot.
SAME = {
    "Ad": {"advert"},
    "Article": {"main"},
    "Comments": {"comment"},
    "Content": {"main", "list", "table"},
    "Footer": {"footer"},
    "Header": {"header", "navigation"},
    "Image": {"media"},
    "LinkList": {"navigation", "list", "related", "footer"},
    "Logo": {"header"},
    "Menu": {"navigation", "header"},
    "Searchbar": {"form"},
    "Sidebar": {"navigation", "related", "list"},
    "Table": {"table"},
    "Title": {"header", "main"},
    "Video": {"media"},
}

Words = frozenset[str]
Segmenter = Callable[[bytes], Sequence[Block]]
Cut = Callable[[bytes], list[Words]]


@dataclass(frozen=True, slots=True)
class Marked:
    """A block that people marked: 1 is the top level."""

    level: str
    kind: str
    words: Words


@dataclass(frozen=True, slots=True)
class Page:
    """A page without the marks, and the marks."""

    name: str
    body: bytes
    marked: tuple[Marked, ...]


def read_pages(folder: Path) -> list[Page]:
    """Return the pages that have marked blocks."""
    pages = []
    for file in sorted(folder.rglob("*.blocks.html")):
        body = file.read_bytes()
        document = parse(body.decode("utf-8", "replace"))
        marked = tuple(
            Marked(
                str(element.attrs["data-block"]),
                str(element.attrs.get("data-block-type", "")),
                words_of(element.html.encode(), "utf-8"),
            )
            for element in document.select("[data-block]")
        )
        pages.append(Page(file.parent.name, MARK.sub(b"", body), marked))
    return [page for page in pages if any(mark.words for mark in page.marked)]


def words_of(markup: bytes, charset: str) -> Words:
    return frozenset(words(visible_text(markup, charset)))


def jaccard(one: Words, other: Words) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def matches(found: Sequence[Words], marked: Sequence[Words]) -> list[tuple[int, int]]:
    """Pair found with marked blocks, the most alike first."""
    pairs = sorted(
        ((jaccard(f, m), i, j) for i, f in enumerate(found) for j, m in enumerate(marked)), reverse=True
    )
    left, right = set(range(len(found))), set(range(len(marked)))
    chosen = []
    for alike, i, j in pairs:
        if alike >= ALIKE and i in left and j in right:
            chosen.append((i, j))
            left.discard(i)
            right.discard(j)
    return chosen


def texts_of(segment: Segmenter) -> Cut:
    """Return the words of the blocks that a page is cut into."""

    def cut(body: bytes) -> list[Words]:
        charset = media_of(body).charset
        return [words_of(body[block.start : block.end], charset) for block in segment(body)]

    return cut


def seen(browser: Browser) -> Cut:
    """Cut pages into visual blocks."""

    def cut(body: bytes) -> list[Words]:
        page = browser.render(body.decode(media_of(body).charset, "replace"))
        return [frozenset(words(leaf.text)) for leaf in divided(page).leaves()] if page else []

    return cut


def score(pages: Iterable[Page], cut: Cut, *, wordless: bool) -> tuple[float, float, float]:
    """Return mean precision, recall and F over pages."""
    scores = []
    for page in pages:
        found = cut(page.body)
        marked = [mark.words for mark in page.marked if mark.level == "1"]
        if not wordless:
            found, marked = list(filter(None, found)), list(filter(None, marked))
        if marked:
            hits = len(matches(found, marked))
            both = len(found) + len(marked)
            scores.append((hits / len(found) if found else 0.0, hits / len(marked), 2 * hits / both))
    mean = [sum(column) / len(scores) for column in zip(*scores, strict=True)]
    return mean[0], mean[1], mean[2]


def body_children(body: bytes) -> list[Block]:
    """Cut a page into the elements that stand directly in its body: the simplest peer."""
    top = tree.root(Source.of(body, media_of(body).charset))
    if top is None or top.element is None:
        return []
    return [Block(node.start, node.end, 1) for node in tree.children(top.element, *tree.content(top))]


def landmarks(body: bytes) -> list[Block]:
    """Cut a page at what says by its name to be head, menu, content, side or foot: the usual rule."""
    name = re.compile(r"header|footer|content|main|nav|menu|sidebar|aside", re.IGNORECASE)
    top = tree.root(Source.of(body, media_of(body).charset))
    found: list[Block] = []
    stack = [top] if top is not None else []
    while stack:
        node = stack.pop()
        assert node.element is not None
        attributes = node.element.attrs
        if node is not top and name.search(f"{node.tag} {attributes.get('id')} {attributes.get('class')}"):
            found.append(Block(node.start, node.end, 1))
        else:
            children = tree.children(node.element, *tree.content(node))
            stack.extend(child for child in children if child.element is not None)
    return found


def at_level(level: int) -> Segmenter:
    return lambda body: partition(body, level).blocks


def segmentation_table(pages: Sequence[Page], *, wordless: bool, visual: bool) -> Table:
    """Return how well the outline, and every other way to cut, agrees with people."""
    segmenters: dict[str, Segmenter] = {"outline": outline}
    segmenters |= {f"partition, level {level}": at_level(level) for level in LEVELS}
    segmenters |= {"children of the body": body_children, "elements named as landmarks": landmarks}
    scores = {name: score(pages, texts_of(cut), wordless=wordless) for name, cut in segmenters.items()}
    if visual:
        with Browser() as browser:
            scores["visual blocks"] = score(pages, seen(browser), wordless=wordless)
    rows = [
        Row(name, [f"{figure:.3f}" for figure in found], at_least(found[2], LEAST_F) if not number else None)
        for number, (name, found) in enumerate(scores.items())
    ]
    marks = sum(mark.level == "1" for page in pages for mark in page.marked)
    return Table(f"{marks} blocks of {len(pages)} pages", ("precision", "recall", "F"), rows)


def label_table(pages: Sequence[Page]) -> Table:
    """Compare the labels of matched blocks with the kinds that people named, per kind."""
    right: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for page in pages:
        blocks = {(b.start, b.end): b for level in LEVELS for b in partition(page.body, level).blocks}
        blocks |= {(b.start, b.end): b for b in outline(page.body)}
        found = sorted(blocks.values(), key=lambda block: (block.start, -block.end))
        charset = media_of(page.body).charset
        texts = [words_of(page.body[block.start : block.end], charset) for block in found]
        labels = label_blocks(page.body, found)
        marked = [mark for mark in page.marked if mark.words and mark.kind in SAME]
        for i, j in matches(texts, [mark.words for mark in marked]):
            count[marked[j].kind] += 1
            right[marked[j].kind] += labels[i].label in SAME[marked[j].kind]
    rows = [
        Row("all", (str(right.total()), str(count.total()), f"{right.total() / count.total():.3f}")),
        *(Row(kind, (str(right[kind]), str(n), f"{right[kind] / n:.3f}")) for kind, n in count.most_common()),
    ]
    return Table("labels of matched blocks", ("as people say", "of", "share"), rows)


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--wordless", action="store_true", help="count blocks without words as missed")
    parser.add_argument("--visual", action="store_true", help="also as a browser lays them out")
    options = parser.parse_args()
    pages = read_pages(options.data)
    blocks = segmentation_table(pages, wordless=options.wordless, visual=options.visual)
    return report(blocks, label_table(pages))


if __name__ == "__main__":
    sys.exit(main())
