"""scrapy segment: the blocks and the main text of files outside the archive."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from archivebot.cli import (
    ArchiveCommand,
    add_visual_options,
    coherence,
    file_body,
    named_files,
    print_table,
    print_visual,
    visual_blocks,
)
from archivebot.config import MAX_LEVEL
from archivebot.content.page import body_content
from archivebot.exceptions import UsageError
from archivebot.labels.description import describe
from archivebot.markup.media import media_of
from archivebot.records import file_record
from archivebot.segmentation.outline import outline
from archivebot.segmentation.segmenter import partition
from archivebot.terminal import write, write_json
from archivebot.vision.render import Browser


class Command(ArchiveCommand):
    """Cut files into blocks and find their main text"""

    arguments = "FILE..."
    most = 1_000_000
    explanation = (
        "Level 1 is the outline of a page: head, menu, content, side, foot. From level 2 on pages are cut"
        " as an archive cuts them. With --visual a browser lays the page out, and blocks are what a visitor"
        " sees as one, the finer the higher --doc. With --json each file is one line."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--level", type=int, default=1, metavar="N", help=f"1 (coarse, default) to {MAX_LEVEL}"
        )
        add_visual_options(parser)

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        if not 1 <= opts.level <= MAX_LEVEL:
            raise UsageError(f"--level is {opts.level}: give a number from 1 to {MAX_LEVEL}")
        doc = coherence(opts)
        if opts.visual:
            return _visual(named_files(args), doc, as_json=opts.json)
        for path in named_files(args):
            record = _record(str(path), file_body(path), opts.level)
            if opts.json:
                write_json(record)
            else:
                _show(record)
        return 0


def _record(name: str, body: bytes, level: int) -> dict[str, Any]:
    media = media_of(body, saved=True)
    body = body if media.is_text else b""
    read = body_content(body, media.header)
    blocks = outline(body, media.header) if level == 1 else partition(body, level, media.header).blocks
    return file_record(name, media.without_text, read, describe(body, blocks, media.header))


def _show(record: dict[str, Any]) -> None:
    write(f"{record['file']}  {record['media'] or record['title']}")
    if record["media"]:
        return
    head = ["level", "start", "end", "words", "label", "topic", "reason"]
    print_table(head, [[block[name] for name in head] for block in record["blocks"]])


def _visual(paths: list[Path], doc: int, *, as_json: bool) -> int:
    """Print the visual blocks of files."""
    with Browser() as browser:
        for path in paths:
            body = file_body(path)
            media = media_of(body, saved=True)
            text = body.decode(media.charset, "replace") if media.is_text else ""
            blocks = visual_blocks(browser, text, doc) if text else []
            if as_json:
                write_json({"file": str(path), "media": media.without_text, "blocks": blocks})
            else:
                write(f"{path}  {media.without_text or ''}".rstrip())
                print_visual(blocks)
    return 0
