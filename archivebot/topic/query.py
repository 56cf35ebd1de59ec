"""A topic as a Boolean query: words and phrases with AND, OR, NOT and brackets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from archivebot.exceptions import UsageError
from archivebot.text.terms import terms
from archivebot.topic.wordlist import weighted

OPERATORS = frozenset(("AND", "OR", "NOT"))

# Maximum of brackets and NOTs inside each other: the parser and the evaluation call themselves.
DEEPEST = 50

# A quoted phrase with its weight, a bracket, a word; the last alternative is a quote that does not end.
_TOKEN = re.compile(r'"[^"]*"(?::[^\s()]+)?|[()]|[^\s()"]+|"')
_CURLY = str.maketrans("“”„", '"""')

Has = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A word or a phrase as written, and its stems, separated by blanks."""

    words: str
    stems: str
    weight: float = 1.0

    def holds(self, has: Has) -> bool:
        return has(self.stems)

    def phrases(self, *, wanted: bool = True) -> Iterator[tuple[Phrase, bool]]:
        yield self, wanted


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a part."""

    part: Node

    def holds(self, has: Has) -> bool:
        return not self.part.holds(has)

    def phrases(self, *, wanted: bool = True) -> Iterator[tuple[Phrase, bool]]:
        yield from self.part.phrases(wanted=not wanted)


@dataclass(frozen=True, slots=True)
class Group:
    """Parts of which all must hold, or any."""

    every: bool
    parts: tuple[Node, ...]

    def holds(self, has: Has) -> bool:
        return (all if self.every else any)(part.holds(has) for part in self.parts)

    def phrases(self, *, wanted: bool = True) -> Iterator[tuple[Phrase, bool]]:
        for part in self.parts:
            yield from part.phrases(wanted=wanted)


Node = Phrase | Not | Group


@dataclass(frozen=True, slots=True)
class Query:
    """A Boolean query: the text of the user, and its tree."""

    text: str
    root: Node = field(repr=False)

    def holds(self, has: Has) -> bool:
        """Return whether the query holds; ``has`` returns whether a page has a phrase, given by its stems.

        >>> query = read_query('(harbour OR "old maps") AND NOT airport')
        >>> query.holds({"harbour"}.__contains__), query.holds({"old map", "airport"}.__contains__)
        (True, False)
        """
        return self.root.holds(has)

    @property
    def weights(self) -> dict[str, float]:
        """The words and phrases that speak for the topic, which stand under no NOT or under two."""
        return {phrase.words: phrase.weight for phrase, wanted in self.root.phrases() if wanted}

    @property
    def terms(self) -> list[str]:
        """The stems of all words of the query, those under NOT as well."""
        return [stem for phrase, _ in self.root.phrases() for stem in phrase.stems.split()]


def is_query(text: str) -> bool:
    """Return whether a text is a query: it has an operator in upper case outside quotes.

    >>> is_query("harbour AND maps"), is_query("harbour and maps, ports"), is_query('"rock AND roll"')
    (True, False, False)
    """
    return not OPERATORS.isdisjoint(_tokens(text))


def read_query(text: str) -> Query:
    """Return the query that a text spells; NOT binds stronger than AND, and AND stronger than OR.

    Words in a row are a phrase, as between the commas of a list, and ``a NOT b`` is ``a AND NOT b``. Raises
    UsageError if the text is not a query.

    >>> read_query("port OR harbour:2 NOT airport").weights
    {'port': 1.0, 'harbour': 2.0}
    >>> read_query("(port OR ferry AND tide")
    Traceback (most recent call last):
    archivebot.exceptions.UsageError: the query '(port OR ferry AND tide' has a '(' without a ')'
    """
    parser = _Parser(text, _tokens(text))
    return Query(text, parser.whole())


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.translate(_CURLY))


class _Parser:
    """Reads the tokens of a query by recursive descent."""

    def __init__(self, text: str, tokens: Sequence[str]) -> None:
        self._text, self._tokens = text, tokens
        self._at = self._depth = 0

    def whole(self) -> Node:
        root = self._any()
        if self._next == ")":
            raise self._wrong("has a ')' without a '('")
        if self._next:
            raise self._wrong(f"needs AND, OR or NOT before {self._next!r}")
        return root

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _skip(self, token: str) -> bool:
        """Pass by the next token if it is the given one."""
        found = self._next == token
        self._at += found
        return found

    def _any(self) -> Node:
        parts = [self._every()]
        while self._skip("OR"):
            parts.append(self._every())
        return parts[0] if len(parts) == 1 else Group(False, tuple(parts))

    def _every(self) -> Node:
        parts = [self._part()]
        while self._skip("AND") or self._next == "NOT":
            parts.append(self._part())
        return parts[0] if len(parts) == 1 else Group(True, tuple(parts))

    def _part(self) -> Node:
        if not (self._skip("NOT") or self._skip("(")):
            return self._phrase()
        opened = self._tokens[self._at - 1]
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._wrong(f"has more than {DEEPEST} brackets and NOTs inside each other")
        found: Node = Not(self._part()) if opened == "NOT" else self._any()
        if opened == "(" and not self._skip(")"):
            missing = f"needs AND, OR or NOT before {self._next!r}"
            raise self._wrong(missing if self._next else "has a '(' without a ')'")
        self._depth -= 1
        return found

    def _phrase(self) -> Phrase:
        start = self._at
        if self._next.startswith('"'):
            self._at += 1
        else:
            while self._next and self._next not in OPERATORS and self._next[0] not in '()"':
                self._at += 1
        return self._read(" ".join(self._tokens[start : self._at]))

    def _read(self, written: str) -> Phrase:
        if written == '"':
            raise self._wrong("has a quote that does not end")
        if not written:
            place = f"before {self._next!r}" if self._next else "at its end"
            raise self._wrong(f"needs a word {place}")
        if "," in written and not written.startswith('"'):
            raise self._wrong("has a comma: write OR between words of which any is enough")
        quoted, quote, rest = written.rpartition('"')  # a colon in quotes begins no weight
        words, weight = weighted(quoted.replace(":", " ") + quote + rest)
        stems = " ".join(terms(words))
        if not stems:
            raise self._wrong(f"asks for {words!r}, which has no meaningful word: leave it out")
        if weight <= 0:
            raise self._wrong(f"has {written!r}: write NOT before a word that speaks against the topic")
        return Phrase(words.strip('"'), stems, weight)

    def _wrong(self, fault: str) -> UsageError:
        return UsageError(f"the query {self._text!r} {fault}")
