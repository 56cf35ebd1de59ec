"""robots.txt, compatible with Google's parser: its groups, its rules, and which rule decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import quote, unquote_to_bytes

# Facts on Google's parser are from https://github.com/google/robotstxt (robots.cc).
UNREACHABLE = "robots.txt unreachable: "  # begins the reason of a refusal, before the fault
MOST_LINE = 2083 * 8 - 1  # bytes of a line that count: eight times the longest URL of a browser

# The relevant lines, by the beginning of their key, ignoring case; the misspellings are those of Google.
_RECORD = re.compile(
    rb"""(?<![^\r\n]) [ \t\v\f]*+ (?:
        (?P<agent> user[- ]?agent )
        | (?P<allow> allow )
        | (?P<disallow> disallow | dissallow | dissalow | disalow | diasllow | disallaw )
        | (?P<delay> crawl-delay )
    ) [^\r\n]*""",
    re.IGNORECASE | re.VERBOSE,
)
_MARK = re.compile(rb"\A\xef(?:\xbb\xbf?)?")  # of UTF-8, or what is left of it
_TOKEN = re.compile(rb"[A-Za-z_-]*")
_SECONDS = re.compile(rb"\d+(?:\.\d*)?|\.\d+")
_TO_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}|[\x80-\xff]")
_PATH = re.compile(r"(?:[^/?;]*://)?[^/?;#]*([/?;][^#]*)?")

# Characters that canonical URLs leave unchanged in a path, and the escapes that must stay: #, $, %, *, / and
# ?.
_PLAIN = "!$&'()*+,/:;=@[]|~%"
_ODD = re.compile(rf"[^A-Za-z0-9_.{re.escape(_PLAIN[:-1])}?-]".encode())
_KEPT = re.compile(rb"%(?=2[345AF]|3F)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One Allow or Disallow: its pattern as the pieces between the ``*``; the first starts the path."""

    allows: bool
    length: int
    start: bytes
    pieces: tuple[bytes, ...]
    ends: bool  # whether the last piece is the end of the path

    @classmethod
    def of(cls, allows: bool, pattern: bytes) -> Self:
        """Return the rule of an escaped pattern."""
        text = pattern.removesuffix(b"$")
        start, *pieces = text.split(b"*")
        ends = text != pattern and not text.endswith(b"*")
        return cls(allows, len(pattern), start, tuple(filter(None, pieces)), ends)

    def matches(self, path: bytes) -> bool:
        """Return whether a path matches; the first occurrence of each piece is enough, so none is retried."""
        if not path.startswith(self.start):
            return False
        at = len(self.start)
        for piece in self.pieces:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        if not self.ends:
            return True
        return path.endswith(self.pieces[-1]) if self.pieces else at == len(path)


@dataclass(frozen=True, slots=True)
class RobotsTxt:
    """The rules of one robots.txt for one agent; ``rules`` are in the order in which they decide."""

    rules: tuple[Rule, ...] = ()
    crawl_delay: float = 0.0

    @classmethod
    def parse(cls, body: bytes, agent: str) -> Self:
        """Read the rules of a robots.txt for a product token, ignoring case, in time linear in its length.

        The groups that name the token count together, else those of ``*``. The longest pattern decides, an
        Allow before a Disallow of the same length. A Disallow also applies to the canonical form of its path:
        ``/a b`` for ``/a%20b``, ``/%7Ejoe`` for ``/~joe``.

        >>> robots = RobotsTxt.parse(b"User-agent: *\\nDisallow: /a*.pdf$\\nCrawl-delay: 2", "archivebot")
        >>> robots.allows("http://a.example/a/b.pdf"), robots.allows("http://a.example/a/b.pdf?c")
        (False, True)
        >>> robots.crawl_delay
        2.0
        """
        ours, others = _Group(), _Group()
        ruled: _Group | None = None  # the group of the next rule: only rules end a group
        paced: _Group | None = None  # the group of the next Crawl-delay: it ends a group, too
        in_rules = in_records = named = False
        for meaning, value in _records(body):
            if meaning == "agent":
                ruled, paced = None if in_rules else ruled, None if in_records else paced
                in_rules = in_records = False
                if value[:1] == b"*" and not value[1:2].strip():
                    ruled, paced = ruled or others, paced or others
                elif _token(value) == agent.lower():
                    ruled = paced = ours
                    named = True
                continue
            in_records = True
            if meaning == "delay":
                if paced is not None:
                    paced.take_delay(value)
            else:
                in_rules = True
                if ruled is not None:
                    ruled.take_rule(meaning == "allow", _escaped(value))
        group = ours if named else others
        rules = (Rule.of(allows, pattern) for allows, pattern in group.patterns if pattern)
        return cls(tuple(sorted(rules, key=lambda rule: (-rule.length, not rule.allows))), group.delay)

    def allows(self, url: str) -> bool:
        """Return whether the URL may be fetched."""
        path = _path(url)
        return next((rule.allows for rule in self.rules if rule.matches(path)), True)


@dataclass(slots=True)
class _Group:
    patterns: dict[tuple[bool, bytes], None] = field(default_factory=dict)
    delay: float = 0.0

    def take_rule(self, allows: bool, pattern: bytes) -> None:
        self.patterns[allows, pattern] = None
        if not allows:
            self.patterns[False, _canonical(pattern)] = None
            return
        folder, slash, name = pattern.rpartition(b"/")
        if slash and name.startswith(b"index.htm"):  # Google: the index of a folder is the folder
            self.patterns[True, folder + b"/$"] = None

    def take_delay(self, value: bytes) -> None:
        if seconds := _SECONDS.match(value):
            self.delay = float(seconds[0])


def _records(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the relevant lines: the meaning of the key, and the value."""
    for found in _RECORD.finditer(_MARK.sub(b"", body)):
        line = found[0][:MOST_LINE].partition(b"\0")[0].partition(b"#")[0].strip()
        key, separator, value = line.partition(b":")
        if not separator:  # blanks replace the colon if there are exactly two words
            key, separator, value = line.replace(b"\t", b" ").partition(b" ")
            value = value.lstrip(b" ")
            if b" " in value:
                continue
        meaning = str(found.lastgroup)
        if separator and len(key) >= len(found[meaning]):
            yield meaning, value.strip()


def _token(value: bytes) -> str:
    """Return the product token at the start of a User-agent line, in lower case."""
    match = _TOKEN.match(value)
    return match[0].decode().lower() if match else ""


def _escaped(pattern: bytes) -> bytes:
    """Return a pattern with bytes outside ASCII escaped, and escapes in capitals."""
    return _TO_ESCAPE.sub(
        lambda found: found[0].upper() if len(found[0]) > 1 else b"%%%02X" % found[0][0], pattern
    )


def _canonical(pattern: bytes) -> bytes:
    """Return an escaped pattern with its path in the form of canonical URLs."""
    if not _ODD.search(pattern):
        return pattern
    path, mark, query = pattern.partition(b"?")
    return quote(unquote_to_bytes(_KEPT.sub(b"%25", path)), safe=_PLAIN).encode() + mark + query


def _path(url: str) -> bytes:
    """Return the part of a URL to compare with patterns: path, parameters and query.

    >>> _path("http://a.example/b;c?d#e"), _path("http://a.example?b"), _path("http://a.example")
    (b'/b;c?d', b'/?b', b'/')
    """
    match = _PATH.match(url)
    path = (match[1] if match else None) or "/"
    return (path if path[0] == "/" else f"/{path}").encode("utf-8", "surrogatepass")
