"""Makes the background of topics from folders of HTML files: the number of files with each term.

    python benchmarks/background.py FOLDER... > archivebot/topic/background-en.txt
    python benchmarks/background.py --cjk FOLDER... > archivebot/topic/background-cjk.txt

The first line is the number of texts; each other line is a number of texts, followed by the terms that occur
in that many. Terms of fewer than three texts are left out. With `--cjk` only terms in scripts without spaces
count, and texts that have a hundred of them; without, only the others. The background in the package is made
of the pages of WCXB and of articles (wcxb-dev, articles-dev), and of the HTML manuals of GIMP, KiCad,
LibreOffice, LilyPond, LinuxCNC and Debian in Chinese, at most 800 pages of each.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from archivebot.hypertext import read
from archivebot.text import is_unspaced
from archivebot.text.terms import terms

LEAST = 3
LEAST_TERMS = 100
MOST_PAGES = 800


def texts(folder: Path) -> Iterator[str]:
    """Yield the titles and texts of pages, spread evenly over those of a folder."""
    paths = sorted(folder.rglob("*.html"))
    for path in paths[:: 1 + len(paths) // MOST_PAGES]:
        page = read(path.read_bytes(), "utf-8", "http://example.com/", context=True)
        yield f"{page.title}\n{page.text}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--cjk", action="store_true", help="count terms in scripts without spaces")
    options = parser.parse_args()
    number, holding = 0, Counter[str]()
    for folder in options.folders:
        for text in texts(folder):
            found = {term for term in terms(text) if is_unspaced(term) == options.cjk}
            if len(found) >= (LEAST_TERMS if options.cjk else 1):
                number += 1
                holding.update(found)
    by_count: defaultdict[int, list[str]] = defaultdict(list)
    for term, count in holding.items():
        if count >= LEAST:
            by_count[count].append(term)
    print(number)
    for count in sorted(by_count, reverse=True):
        print(count, *sorted(by_count[count]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
