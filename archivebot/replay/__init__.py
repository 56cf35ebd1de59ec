"""Replay of archived pages: their addresses, their links rewritten, TimeMaps, and the index of captures."""

from archivebot.replay.address import Address, read_address, replay_path
from archivebot.replay.cdx import CdxQuery
from archivebot.replay.rewrite import Rewriter
from archivebot.replay.timemap import Neighbours, link_header, timemap

__all__ = [
    "Address",
    "CdxQuery",
    "Neighbours",
    "Rewriter",
    "link_header",
    "read_address",
    "replay_path",
    "timemap",
]
