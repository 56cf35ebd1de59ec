"""The label of each block of a page, with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from turbohtml import Element

from archivebot.labels.density import LEAST_LENGTH, is_dense, link_density
from archivebot.labels.names import named
from archivebot.labels.scene import Scene, locate
from archivebot.markup.media import media_of
from archivebot.markup.page import ParsedPage
from archivebot.markup.seen import CODE, LISTS, Counts, attribute, look
from archivebot.markup.tree import Source
from archivebot.models import Block, Label


@dataclass(frozen=True, slots=True)
class Labelled:
    """The label of a block and the one feature, with its value, that decided."""

    block: Block
    label: Label
    reason: str


ROLES = {
    "banner": Label.HEADER,
    "contentinfo": Label.FOOTER,
    "form": Label.FORM,
    "main": Label.MAIN,
    "menu": Label.NAVIGATION,
    "menubar": Label.NAVIGATION,
    "navigation": Label.NAVIGATION,
    "search": Label.FORM,
}
LANDMARKS = {"nav": Label.NAVIGATION, "header": Label.HEADER, "footer": Label.FOOTER, "main": Label.MAIN}

# A header or footer inside one of these is the head or foot of an article, not of the page (HTML
# standard, "the header element").
SECTIONS = frozenset("article aside main nav section".split())
_WHOLE = frozenset(("article", "main")) | CODE  # no element inside these is an edge of the page

# The figures at the thresholds count blocks with the right label, of the 833 of blocks-random that match
# one marked by hand (benchmarks/blocks.py). With the values here it is 599.

# Names may be wrong: a block with this many letters of prose is not a menu or a head, whatever its class
# ("faq_tabs-menu-link" around the answers). 599 at 100, 600 at 400.
PROSE = 200
UNPROSAIC = frozenset((Label.NAVIGATION, Label.HEADER))

# Maximum of letters per control outside the controls of a form, for the text to be captions: 595 at 120.
LETTERS_PER_CONTROL = 40

# Maximum of letters per picture in a caption: 595 at 60.
LETTERS_PER_PICTURE = 30

# Tables with more than this share of linked letters arrange a menu: 600 at 0.3, 575 at 0.8.
LINKED_SHARE = 0.5

# Minimum share of a block's letters inside its lists for a list, and inside code for code: the same from 0.5
# to 0.95.
LIST_SHARE = 0.8

# A menu has short links; longer ones are titles of articles: 601 at 15, 597 at 30.
LETTERS_PER_MENU_LINK = 20
LEAST_LINKS = 2  # beside other text: 592 at 4

# Positions are shares of the page's letters. A larger block at the edge is content: articles lost
# rise from 46 of 175 at 0.05 to 52 at 0.25. A foot that names the rights may be larger: 595 at 0.1.
EDGE_SHARE, RIGHTS_SHARE = 0.1, 0.3
AT_START, AT_END = 0.005, 0.98  # 597 at 0.05, 592 at 1

# The block with this share of the letters is the content of the page, even if it consists of links: 74 of 87
# contents are found instead of 67. 596 at 0.5, 595 at 0.9.
MAIN_SHARE = 0.7

# Names of ad servers, in the markup of a block without prose.
SERVERS = (
    "adform adnxs adservice adserver adsystem criteo doubleclick googlesyndication googletagservices outbrain"
    " taboola yieldmanager"
).split()
ADVERTISERS = re.compile(rf"[/.]({'|'.join(SERVERS)})\b", re.IGNORECASE)
RIGHTS = re.compile(r"©|&copy;|&#169;|\(c\)\s*(?:19|20)\d\d|\bcopyright\b|all rights reserved", re.IGNORECASE)
RIGHTS_WORDS = ("©", "&copy;", "&#169;", "(c)", "copyright", "all rights reserved")

# A block on this share of a site's pages is furniture.
REPEATS = 0.5

Verdict = tuple[Label, str] | None
Rule = Callable[[Scene], Verdict]


def label_blocks(
    body: bytes,
    blocks: Sequence[Block],
    content_type: str = "",
    repeats: Mapping[Block, float] | None = None,
) -> tuple[Labelled, ...]:
    """Return the label of every block of a body and the reason; the body is parsed once.

    The blocks may come from any partition, or an outline. ``repeats`` maps blocks to the share (0..1) of the
    site's pages with them. The first rule that applies decides: ARIA roles and landmark elements, share of
    the page, names, advertisers, rights, tables, forms, position, links, pictures, lists, repetition. If no
    rule applies, a block is main content.

    >>> page = b"<nav><a href=a>Home</a></nav><p>A text that is long enough to be read.</p>"
    >>> [(str(b.label), b.reason) for b in label_blocks(page, (Block(0, 29, 1), Block(29, 77, 1)))]
    [('navigation', 'element nav'), ('main', "holds 0.88 of the page's letters")]
    >>> [str(b.label) for b in label_blocks(b"plain text", [Block(0, 10, 1)], "text/plain")]
    ['main']
    """
    media = media_of(body, content_type)
    return label_page(ParsedPage(body, media.charset) if media.is_markup else None, blocks, repeats)


def label_page(
    page: ParsedPage | None, blocks: Sequence[Block], repeats: Mapping[Block, float] | None = None
) -> tuple[Labelled, ...]:
    """Label the blocks of a parsed page as :func:`label_blocks` does; None is a body that is not markup.

    A page without exact offsets is parsed again, byte by byte.
    """
    source = Source.of(page.body, page.charset) if page and not page.is_exact else page
    body = look(source) if source else None
    if body is None or source is None:
        return tuple(Labelled(block, Label.MAIN, "no markup") for block in blocks)
    unit, known = (source.unit if isinstance(source, Source) else 1), repeats or {}
    ranges = [(block.start // unit, block.end // unit, known.get(block)) for block in blocks]
    scenes = locate(body, source, ranges)
    return tuple(Labelled(block, *judge(scene)) for block, scene in zip(blocks, scenes, strict=True))


def judge(scene: Scene) -> tuple[Label, str]:
    """Return the label of a block and the reason, by the first rule that applies."""
    for rule in RULES:
        verdict = rule(scene)
        if verdict is not None:
            return verdict
    text = f"text {scene.total.letters} letters"
    return Label.MAIN, f"{text}, link density {link_density(scene.total.links, scene.total.prose):.3f}"


def by_landmark(scene: Scene) -> Verdict:
    for element in scene.speakers:
        role, tag = attribute(element, "role").lower(), element.tag
        if role in ROLES:
            return ROLES[role], f"role {role}"
        if tag in LANDMARKS and not (tag in ("header", "footer") and _in_section(element, scene)):
            return LANDMARKS[tag], f"element {tag}"
    return None


def _in_section(element: Element, scene: Scene) -> bool:
    return any(outer.node.tag in SECTIONS for outer in scene.around if outer.node.element is not element)


def by_share(scene: Scene) -> Verdict:
    if scene.share < MAIN_SHARE:
        return None
    return Label.MAIN, f"holds {scene.share:.2f} of the page's letters"


def by_name(scene: Scene) -> Verdict:
    reads = scene.total.prose >= PROSE and not is_dense(scene.total.links, scene.total.prose)
    for word, name in named(scene.speakers):
        if not (reads and word in UNPROSAIC):
            return Label(word), name
    return None


def by_table(scene: Scene) -> Verdict:
    for element in scene.holders:
        if (rows := scene.tables.get(element)) and not _is_linked(scene.inside[0].sight.count(element)):
            return Label.TABLE, f"regular rows {rows}"
    if any(box.node.tag in ("tr", "tbody") for box in scene.inside):
        table = next((box for box in scene.around if box.node.tag == "table"), None)
        rows = scene.tables.get(table.node.element) if table and table.node.element else None
        if table and rows and not _is_linked(table.counts):
            return Label.TABLE, f"in a table of {rows} regular rows"
    return None


def _is_linked(counts: Counts) -> bool:
    return counts.linked > LINKED_SHARE * counts.letters


def by_form(scene: Scene) -> Verdict:
    controls = scene.total.controls
    if controls and scene.total.letters <= LETTERS_PER_CONTROL * controls:
        return Label.FORM, f"controls {controls}, letters {scene.total.letters}"
    return None


def by_pictures(scene: Scene) -> Verdict:
    pictures = scene.total.pictures
    if pictures and scene.total.letters <= LETTERS_PER_PICTURE * pictures:
        return Label.MEDIA, f"pictures {pictures}, letters {scene.total.letters}"
    return None


def by_links(scene: Scene) -> Verdict:
    """Label link lists: lists with short links are menus, others are lists of titles."""
    total = scene.total
    prose = total.prose if total.prose >= LEAST_LENGTH else 0
    if total.links < (LEAST_LINKS if prose else 1) or not is_dense(total.links, prose):
        return None
    mean = total.linked / total.links
    label = Label.NAVIGATION if mean <= LETTERS_PER_MENU_LINK else Label.LIST
    density = "no other text" if not prose else f"link density {link_density(total.links, prose):.3f}"
    return label, f"{density}, {mean:.0f} letters a link"


def by_list(scene: Scene) -> Verdict:
    items = scene.held(LISTS)
    if items and items >= LIST_SHARE * scene.total.letters:
        return Label.LIST, f"list holds {items} of {scene.total.letters} letters"
    return None


def by_advertiser(scene: Scene) -> Verdict:
    server = _search(ADVERTISERS, SERVERS, scene.markup) if scene.total.prose < PROSE else None
    return (Label.ADVERT, f"from {server[1].lower()}") if server else None


def by_rights(scene: Scene) -> Verdict:
    at_end = scene.before + scene.share >= 1 - EDGE_SHARE and scene.share <= RIGHTS_SHARE
    if at_end and not _in_content(scene) and _search(RIGHTS, RIGHTS_WORDS, scene.markup):
        return Label.FOOTER, "names the rights near the end of the page"
    return None


def _search(pattern: re.Pattern[str], words: Iterable[str], markup: str) -> re.Match[str] | None:
    """Search a pattern, each match of which has one of the words; the search for words alone is faster."""
    text = markup.lower()
    return pattern.search(markup) if any(word in text for word in words) else None


def by_position(scene: Scene) -> Verdict:
    at_start, at_end = scene.before <= AT_START, scene.before + scene.share >= AT_END
    if scene.share > EDGE_SHARE or at_start == at_end or _in_content(scene):
        return None
    if at_start:
        return Label.HEADER, f"starts at {scene.before:.2f} of the page's letters"
    return Label.FOOTER, f"ends at {scene.before + scene.share:.2f} of the page's letters"


def _in_content(scene: Scene) -> bool:
    """Return whether a block is in an article, or is code, and so is not an edge of the page."""
    if any(box.node.tag in _WHOLE for box in scene.around):
        return True
    code = scene.held(CODE)
    return bool(code) and code >= LIST_SHARE * scene.total.letters


def by_repetition(scene: Scene) -> Verdict:
    if scene.repeats is None or scene.repeats < REPEATS:
        return None
    label = Label.HEADER if scene.before + scene.share / 2 < 0.5 else Label.FOOTER
    return label, f"on {scene.repeats:.2f} of the site's pages"


RULES: tuple[Rule, ...] = (
    by_landmark,
    by_share,
    by_name,
    by_advertiser,
    by_rights,
    by_table,
    by_form,
    by_position,
    by_links,
    by_pictures,
    by_list,
    by_repetition,
)
