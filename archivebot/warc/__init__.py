"""Reads the pages of web archive files: WARC and ARC."""

from __future__ import annotations

from archivebot.warc.damage import Damage
from archivebot.warc.reader import WarcPage, first_date, read_pages

__all__ = ["Damage", "WarcPage", "first_date", "read_pages"]
