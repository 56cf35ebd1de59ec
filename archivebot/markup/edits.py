"""The edits of a page: the tags and texts that differ from an earlier version with the same elements."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, compress
from itertools import count as counting
from operator import itemgetter, ne
from typing import NamedTuple

from turbohtml import Token, TokenType, tokenize

# Elements whose text is code.
CODE = frozenset(("script", "style"))

# Elements in which markup is read by other rules: a script or a style sheet holds elements there.
_FOREIGN = frozenset(("svg", "math"))

# Attributes that decide where the parser puts elements.
_PLACING = {
    "input": {"type"},
    "annotation-xml": {"encoding"},
    "template": {"shadowrootmode"},
    "font": {"color", "face", "size"},
}

# Elements whose text is no running text of the page, or not visible.
_UNREAD = frozenset("title template select textarea iframe object audio video canvas".split()) | _FOREIGN

# Elements whose beginnings and ends are counted.
_COUNTED = _UNREAD.union(("a",))

# Tags after which a text does not stay where it is in the source: the parser moves it before the table.
_TABLE = frozenset("table thead tbody tfoot tr colgroup col".split())
_CELLS = frozenset(("td", "th", "caption"))

_SCRIPT = re.compile(b"<(/?)[sS][cC][rR][iI][pP][tT]")  # faster than IGNORECASE

# What changes how code or a comment is read.
_TURNS = ("<!--", "-->", "--!>", "<script", "</script", "</style")

Attributes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TagEdit:
    """A start tag with other attributes: the element, its attributes in both versions, and which differ."""

    tag: str
    before: Attributes
    after: Attributes
    names: frozenset[str]

    @classmethod
    def of(cls, old: Token, new: Token) -> TagEdit:
        """Compare two start tags of an element."""
        before, after = _attributes(old), _attributes(new)
        differ = before.items() ^ after.items()
        return cls(new.tag or "", before, after, frozenset(name for name, _ in differ))


@dataclass(frozen=True, slots=True)
class TextEdit:
    """A text that differs. ``code`` is the element whose code it is, "" for a text that may be visible.

    ``linked`` is whether it may be inside a link. ``start`` is its byte offset in the earlier version, and
    ``tag`` is the element whose start tag is before it, "" after another tag. ``is_read`` is false if the
    text may be in an element whose text is not read, or the parser may move it.
    """

    code: str
    linked: bool
    before: str
    after: str
    start: int = 0
    tag: str = ""
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class Edits:
    """The edits of a page whose elements, comments and texts are in the same order as in an earlier version.

    ``pieces`` are the byte ranges that differ, [start, end) in both versions, and ``names`` are the
    attributes that differ somewhere, by element. Texts and attributes are read as Latin-1, a character for
    each byte.
    """

    tags: tuple[TagEdit, ...]
    texts: tuple[TextEdit, ...]
    pieces: tuple[tuple[int, int, int, int], ...]
    names: Mapping[str, set[str]]

    @property
    def keeps_text(self) -> bool:
        """Whether no text differs but code."""
        return all(text.code for text in self.texts)

    def keeps(self, *names: str, tags: tuple[str, ...] = ()) -> bool:
        """Return whether no start tag differs in some attributes; of all elements, or some."""
        differ = self.names
        return not any(differ[tag].intersection(names) for tag in (tags or differ) if tag in differ)

    def moved(self, offset: int) -> int | None:
        """Return where an offset of the earlier version is in the later one; None inside an edit."""
        at = bisect_right(self.pieces, offset, key=itemgetter(0)) - 1
        if at < 0:
            return offset
        start, end, begins, ends = self.pieces[at]
        if offset == start:
            return begins
        return offset - end + ends if offset >= end else None


def edits(before: bytes, after: bytes) -> Edits | None:
    """Return the edits between two versions of a page; None if their elements differ. Not for UTF-16.

    >>> found = edits(b"<p class=a>One</p><script>1</script>", b"<p class=b>One</p><script>22</script>")
    >>> [(edit.tag, {*edit.names}) for edit in found.tags], found.texts[0].code, found.keeps_text
    ([('p', {'class'})], 'script', True)
    >>> found.pieces, found.moved(18), found.moved(27)
    (((0, 11, 0, 11), (26, 27, 26, 28)), 18, 28)
    >>> edits(b"<p>One", b"<p>One<p>Two") is None
    True
    """
    old, new = _pieces(before), _pieces(after)
    if len(old) != len(new):
        return None
    differ = list(compress(counting(), map(ne, old, new)))
    found = _Found([], [], [])
    if differ:
        contexts = _Contexts(after)
        here = there = -1
        last = 0
        for at in differ:
            here += sum(map(len, old[last:at])) + at - last
            there += sum(map(len, new[last:at])) + at - last
            last = at
            pieces = _Piece(here, old[at]), _Piece(there, new[at])
            if at == 0 or not found.read(*pieces, contexts.at(there)):
                return None
    names: defaultdict[str, set[str]] = defaultdict(set)
    for edit in found.tags:
        names[edit.tag] |= edit.names
    return Edits(tuple(found.tags), tuple(found.texts), tuple(found.ranges), dict(names))


def _pieces(body: bytes) -> list[bytes]:
    """Return a body split at its less-than signs, except those in scripts."""
    found: list[bytes] = []
    done, script = 0, -1
    for tag in _SCRIPT.finditer(body):
        if script < 0 and not tag[1]:
            script = tag.start()
        elif script >= 0 and tag[1]:
            found += body[done:script].split(b"<")
            found.append(body[script + 1 : tag.start()])
            done, script = tag.start() + 1, -1
    return found + body[done:].split(b"<")


def count(body: bytes) -> int:
    """Return roughly the number of tags and comments of a body, without those in scripts.

    >>> count(b"<p>One<script>a<b</script>")
    3
    """
    return len(_pieces(body)) - 1


class _Piece:
    """A less-than sign at ``start``, and all up to the next one."""

    def __init__(self, start: int, rest: bytes) -> None:
        self.start, self.end = start, start + 1 + len(rest)
        self.text = f"<{_unbroken(rest)}"

    def parts(self) -> tuple[Token, str, int] | None:
        """Return the tag or comment, the text after it and its start; None if there is anything else."""
        tokens = list(tokenize(self.text, capture_source=True))
        first = tokens[0] if tokens else None
        if first is None or first.type is TokenType.TEXT or first.source is None or len(tokens) > 2:
            return None
        text = tokens[1].data or "" if len(tokens) == 2 else ""
        return first, text, self.start + len(first.source)


class _Context(NamedTuple):
    """Where a less-than sign is: the token that it begins or is in, and the elements around it.

    ``linked`` and ``foreign`` are whether a link, or a drawing or a formula, is open after that token, and
    ``unread`` is whether an element may be open whose text is not read.
    """

    token: Token
    before: Token | None
    begins: bool
    linked: bool
    foreign: bool
    unread: bool


class _Contexts:
    """The tokens of a body."""

    def __init__(self, body: bytes) -> None:
        text = _unbroken(body)
        self._tokens: list[Token] = list(tokenize(text, capture_attributes=False))
        self._rows = [0, *accumulate([len(row) + 1 for row in text.split("\n")])]
        self._events: list[int] = []
        self._states: list[tuple[int, int, bool]] = []
        links = foreign = 0
        unread: list[str] = []
        for at, token in enumerate(self._tokens):
            if token.tag in _COUNTED:
                step = 1 if token.type is TokenType.START_TAG else -1
                if token.tag == "a":
                    links = max(links + step, 0)
                elif token.tag in _FOREIGN and not token.self_closing:
                    foreign = max(foreign + step, 0)
                _note(unread, token)
                self._events.append(at)
                self._states.append((links, foreign, bool(unread)))

    def _start(self, token: Token) -> int:
        """Return the offset of a token; few are asked for."""
        return self._rows[token.line - 1] + token.col

    def at(self, offset: int) -> _Context:
        """Return the context of an offset."""
        at = bisect_right(self._tokens, offset, key=self._start) - 1
        token = self._tokens[at]
        event = bisect_right(self._events, at) - 1
        links, foreign, unread = self._states[event] if event >= 0 else (0, 0, False)
        begins = self._start(token) == offset
        return _Context(token, self._tokens[at - 1] if at else None, begins, links > 0, foreign > 0, unread)


def _note(unread: list[str], token: Token) -> None:
    """Note the beginning or end of an element whose text is not read.

    If such elements end in another order than they begin, the last of them does not end.
    """
    tag = token.tag or ""
    if tag not in _UNREAD or (tag in _FOREIGN and token.self_closing):
        return
    if token.type is TokenType.START_TAG:
        unread.append(tag)
    elif unread and unread[-1] == tag:
        unread.pop()
    elif tag in unread:
        unread.append("")


@dataclass(frozen=True, slots=True)
class _Found:
    """The edits that were found so far."""

    tags: list[TagEdit]
    texts: list[TextEdit]
    ranges: list[tuple[int, int, int, int]]

    def read(self, old: _Piece, new: _Piece, context: _Context) -> bool:
        """Read a piece that differs; return whether it has the same elements in both versions."""
        if not context.begins or context.token.type is TokenType.TEXT:
            return self._read_inside(old, new, context)
        then, now = old.parts(), new.parts()
        if then is None or now is None:
            return False
        tag, other = now[0], then[0]
        if (tag.type, tag.tag) != (other.type, other.tag) or tag.type is not context.token.type:
            return False
        if tag.source != other.source:
            self.ranges.append((old.start, then[2], new.start, now[2]))
            if not self._read_tag(other, tag):
                return False
        if then[1] != now[1] or old.end - then[2] != new.end - now[2]:
            self.ranges.append((then[2], old.end, now[2], new.end))
            code = tag.tag if tag.type is TokenType.START_TAG and tag.tag in CODE else None
            if code and context.foreign:
                return False
            name = tag.tag or ""
            begins = name if tag.type is TokenType.START_TAG else ""
            is_read = not (context.unread or name in _TABLE or (name in _CELLS and not begins))
            text = TextEdit(code or "", context.linked, then[1], now[1], then[2], begins, is_read)
            self.texts.append(text)
        return True

    def _read_tag(self, old: Token, new: Token) -> bool:
        """Read a tag or a comment that differs; return whether it puts elements in the same places."""
        if new.type is TokenType.START_TAG:
            edit = TagEdit.of(old, new)
            if old.self_closing != new.self_closing or edit.names & _PLACING.get(edit.tag, set()):
                return False
            if edit.names:
                self.tags.append(edit)
        return new.type is not TokenType.DOCTYPE

    def _read_inside(self, old: _Piece, new: _Piece, context: _Context) -> bool:
        """Read a piece inside code or a comment that goes on in both versions."""
        if any(turn in piece.text.lower() for piece in (old, new) for turn in _TURNS):
            return False
        self.ranges.append((old.start, old.end, new.start, new.end))
        if context.token.type is TokenType.COMMENT:
            return True
        holder = context.before
        if holder is None or holder.type is not TokenType.START_TAG or holder.tag not in CODE:
            return False
        self.texts.append(TextEdit(holder.tag or "", False, old.text, new.text))
        return context.token.type is TokenType.TEXT and not context.foreign


def _unbroken(body: bytes) -> str:
    """Return bytes as characters, with line breaks that the parser leaves as they are."""
    if b"\r" in body:
        body = body.replace(b"\r\n", b" \n").replace(b"\r", b"\n")
    return body.decode("latin-1")


def _attributes(token: Token) -> Attributes:
    """Return the attributes of a start tag; of two with one name the first counts."""
    return {name: value or "" for name, value in reversed(token.attrs or ())}
