"""Visual blocks in commands: their options, the blocks of a page, and how they are printed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from archivebot.cli.printing import print_table
from archivebot.exceptions import UsageError
from archivebot.vision.block import LEAST_DOC, MOST_DOC, VisionBlock
from archivebot.vision.render import Browser
from archivebot.vision.vips import PERMITTED, segment

MOST_SHOWN = 60  # characters of the text of a visual block in the table


def add_visual_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a command that shows visual blocks."""
    parser.add_argument("--visual", action="store_true", help="blocks as a browser shows the page")
    parser.add_argument(
        "--doc", type=int, metavar="N", help=f"minimum coherence of visual blocks, 1 to 10 ({PERMITTED})"
    )


def coherence(opts: argparse.Namespace) -> int:
    """Return the minimum coherence of the options; raises UsageError if it is out of range."""
    if opts.doc is None:
        return PERMITTED
    if not opts.visual:
        raise UsageError("--doc is for visual blocks: give --visual as well")
    if not LEAST_DOC <= opts.doc <= MOST_DOC:
        raise UsageError(f"--doc is {opts.doc}: give a number from {LEAST_DOC} to {MOST_DOC}")
    doc: int = opts.doc
    return doc


def visual_blocks(browser: Browser, text: str, doc: int) -> list[dict[str, Any]]:
    """Return the innermost blocks of a page; an empty page has none."""
    page = browser.render(text)
    return [] if page is None else [_record(block) for block in segment(page, doc).leaves()]


def print_visual(blocks: Sequence[dict[str, Any]]) -> None:
    """Print a row for each block."""
    head = ["doc", "left", "top", "width", "height", "path", "text"]
    rows = [{**block, "text": str(block["text"])[:MOST_SHOWN]} for block in blocks]
    print_table(head, [[row[column] for column in head] for row in rows])


def _record(block: VisionBlock) -> dict[str, Any]:
    """Return a visual block as scripts read it, in whole pixels."""
    left, top = round(block.box.left), round(block.box.top)
    return {
        "path": block.path,
        "left": left,
        "top": top,
        "width": round(block.box.right) - left,
        "height": round(block.box.bottom) - top,
        "doc": block.doc,
        "text": block.text,
    }
