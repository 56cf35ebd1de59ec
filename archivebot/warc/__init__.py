"""Reads the pages of web archive files: WARC and ARC."""

from __future__ import annotations

from archivebot.warc.damage import Damage
from archivebot.warc.draft import WarcPage
from archivebot.warc.inputs import Input, Part, inputs
from archivebot.warc.reader import first_date, read_pages

__all__ = ["Damage", "Input", "Part", "WarcPage", "first_date", "inputs", "read_pages"]
