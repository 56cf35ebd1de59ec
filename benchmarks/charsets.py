"""The charset of pages without a declaration, compared with turbohtml's and Scrapy's detectors.

    python benchmarks/charsets.py FOLDER...

The folders have pages in UTF-8 that name their language, at any depth. Each page is encoded in the charsets
that pages in its language had before UTF-8, without its declarations. A page is read correctly if its text
is. Scrapy's detector is charset-normalizer. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from charset_normalizer import from_bytes
from common import data_folder
from tables import Row, Table, at_most, report
from turbohtml.detect import detect

from archivebot.markup.charset import WESTERN, codec
from archivebot.markup.media import media_of

MOST_WESTERN, MOST_OTHERS = 0.01, 0.05  # shares read wrongly
SCRAPY = 60  # pages that Scrapy's detector reads; it takes up to a second for one

CHARSETS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys("ca da de en es fi fr id is it nb nl no pt sv".split(), (WESTERN,)),
    **dict.fromkeys("cs hr hu pl ro sk sl".split(), ("cp1250", "iso8859-2")),
    **dict.fromkeys("bg uk".split(), ("cp1251",)),
    **dict.fromkeys("et lt lv".split(), ("cp1257",)),
    **dict.fromkeys("ar fa".split(), ("cp1256",)),
    **dict.fromkeys("zh-hant zh-hk zh-tw".split(), ("big5hkscs",)),
    "el": ("cp1253",),
    "he": ("cp1255",),
    "ja": ("cp932", "euc_jp", "iso2022_jp"),
    "ko": ("cp949",),
    "ru": ("cp1251", "koi8-r"),
    "th": ("cp874",),
    "tr": ("cp1254",),
    "vi": ("cp1258",),
    "zh": ("gb18030",),
}

_LANGUAGE = re.compile(rb"<html[^>]*\blang=[\"']?([\w-]+)", re.IGNORECASE)
_DECLARATION = re.compile(rb"charset|encoding=", re.IGNORECASE)


def written(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the pages of a folder, each in the charsets of its language."""
    for file in sorted(folder.rglob("*.html")):
        body = file.read_bytes()
        found = _LANGUAGE.search(body)
        try:
            text = body.decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
        language = found[1].decode().lower() if found else ""
        for charset in CHARSETS.get(language) or CHARSETS.get(language.partition("-")[0], ()):
            page = _DECLARATION.sub(b"x", text.encode(charset, "xmlcharrefreplace"))
            if page.decode(charset) != page.decode("utf-8", "replace"):
                yield charset, page


def ours(page: bytes) -> str:
    return media_of(page, "text/html").charset


def turbohtml(page: bytes) -> str:
    return codec(detect(page).encoding or "") or WESTERN


def scrapy(page: bytes) -> str:
    found = from_bytes(page).best()
    return codec(found.encoding) if found else WESTERN


def measured(
    tell: Callable[[bytes], str], pages: list[tuple[str, bytes]]
) -> tuple[float, float, Counter[str]]:
    """Return the share read wrongly, milliseconds of a page, and which charsets were mistaken."""
    started = time.process_time()
    told = [tell(page) for _, page in pages]
    seconds = time.process_time() - started
    wrong = Counter(
        f"{charset} as {found}"
        for (charset, page), found in zip(pages, told, strict=True)
        if page.decode(found, "replace") != page.decode(charset)
    )
    most = max(len(pages), 1)
    return wrong.total() / most, 1000 * seconds / most, wrong


def table(name: str, pages: list[tuple[str, bytes]], bound: float) -> Table:
    """Return what is read wrongly of a group of pages, by ours and the peers."""
    wrong, cost, mistaken = measured(ours, pages)
    print(f"{name}: {', '.join(f'{pair} {count}' for pair, count in mistaken.most_common(10)) or 'none'}")
    peer, peer_cost, _ = measured(turbohtml, pages)
    third, third_cost, _ = measured(scrapy, pages[:: max(1, len(pages) // SCRAPY)])
    rows = [
        Row("read wrongly", (f"{wrong:.3f}", f"{peer:.3f}", f"{third:.3f}"), at_most(wrong, bound)),
        Row("CPU, ms a page", (f"{cost:.2f}", f"{peer_cost:.2f}", f"{third_cost:.2f}")),
    ]
    return Table(f"{len(pages)} {name}", ("archivebot", "turbohtml", "Scrapy"), rows)


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("more", type=Path, nargs="*", help="more such folders")
    options = parser.parse_args()
    pages = [page for folder in (options.data, *options.more) for page in written(folder)]
    western, others = ([page for page in pages if (page[0] == WESTERN) is group] for group in (True, False))
    return report(
        table("Western pages", western, MOST_WESTERN), table("pages in other charsets", others, MOST_OTHERS)
    )


if __name__ == "__main__":
    sys.exit(main())
