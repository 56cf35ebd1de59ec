"""Addresses: the identity of a page, its key for look-up, and whether it may be fetched."""

from archivebot.urls.canonical import canonical_url, encoded, joined, parse_seed, target, variants
from archivebot.urls.method import has_method, with_method
from archivebot.urls.pattern import pattern
from archivebot.urls.private import is_loopback, is_private
from archivebot.urls.scope import Scope
from archivebot.urls.seeds import split_seeds
from archivebot.urls.surt import host_of, host_of_key, host_part, key_range, site_of, urlkey
from archivebot.urls.traps import trap

__all__ = [
    "Scope",
    "canonical_url",
    "encoded",
    "has_method",
    "host_of",
    "host_of_key",
    "host_part",
    "is_loopback",
    "is_private",
    "joined",
    "key_range",
    "parse_seed",
    "pattern",
    "site_of",
    "split_seeds",
    "target",
    "trap",
    "urlkey",
    "variants",
    "with_method",
]
