"""What a rule finds in a change, condition by condition, and whether it lasts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from archivebot.models import Attribute, BlockChange, Change, ChangeKind, SiteChange
from archivebot.text import collapse, words
from archivebot.versioning.worddiff import word_diff
from archivebot.watch.change import WatchedChange
from archivebot.watch.rule import Rule
from archivebot.watch.terms import count, excerpt

MOST_SHOWN = 240  # characters of the description of a finding


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of a change that a rule wants to know: the key of the part, and its description.

    ``changed`` are the words that a block lost and gained, with their signs.
    """

    key: tuple[str, ...]
    text: str
    changed: frozenset[str] = field(default=frozenset(), repr=False)

    def lasts_in(self, later: Iterable[Finding]) -> bool:
        """Return whether a later comparison with the same state still has this finding.

        Half of the words that a block gained must still be there, or of those that it lost if it gained none:
        a counter beside them may change too.
        """
        gained = frozenset(word for word in self.changed if word.startswith("+"))
        decisive = gained or self.changed
        return any(
            self.key == other.key and 2 * len(decisive & other.changed) >= len(decisive) for other in later
        )


Conditions = list[list[Finding]]


def findings(rule: Rule, change: WatchedChange) -> Conditions:
    """Return what each condition of a rule finds in a change; the rule matches if no list is empty.

    >>> from datetime import datetime
    >>> when = datetime(2026, 1, 1)
    >>> gone = WatchedChange("http://a.example/", SiteChange.GONE, 1, None, when, "status 410")
    >>> rule = Rule("all", (), frozenset({SiteChange.GONE}))
    >>> [[each.text for each in found] for found in findings(rule, gone)]
    [['status 410']]
    """
    if not rule.wants(change.kind):
        return [[]]
    if not rule.has_conditions and change.kind not in (SiteChange.CHANGED, SiteChange.TOUCHED):
        return [[Finding((change.kind, change.reason), change.reason)]]
    blocks = list(_counted(rule, change))
    texts = list(_texts(rule, change, blocks))
    found: Conditions = []
    if not rule.has_conditions:
        found.append(_parts(change, blocks))
    if rule.labels or rule.size:
        found.append(_sizable(rule, blocks))
    if rule.added:
        found.append([each for term in rule.added for each in _term(term, texts, "added")])
    if rule.removed:
        found.append([each for term in rule.removed for each in _term(term, texts, "removed")])
    if rule.fields:
        found.append(list(_fields(rule, change)))
    if rule.numbers:
        found.append(list(_numbers(rule, change)))
    return found


def lasting(first: Conditions, later: Sequence[Conditions]) -> Conditions:
    """Return the findings that all later comparisons with the same state have as well.

    A comparison of a kind that the rule does not want has no list for each condition, and no finding.
    """
    return [
        [
            each
            for each in found
            if all(len(others) == len(first) and each.lasts_in(others[index]) for others in later)
        ]
        for index, found in enumerate(first)
    ]


def described(conditions: Conditions) -> str:
    """Return the first finding of each condition, as the reason of an alert."""
    return "; ".join(dict.fromkeys(found[0].text for found in conditions))


def _counted(rule: Rule, change: WatchedChange) -> Iterator[BlockChange]:
    """Yield the changed blocks that a rule looks at."""
    furniture = SiteChange.TOUCHED in rule.changes
    for block in change.blocks:
        if block.change in (Change.MARKUP, Change.UNCHANGED) or block.kind is None:
            continue
        named = block.label in rule.labels
        is_menu = named and block.label is not None and block.label.is_furniture
        if (named or not rule.labels) and (furniture or is_menu or block.kind is ChangeKind.CONTENT):
            yield block


def _parts(change: WatchedChange, blocks: Sequence[BlockChange]) -> list[Finding]:
    """Return the blocks, else the titles, links and fields, else the page, with the reason of the page."""
    found = [_block(block, change.reason) for block in blocks]
    found += [
        Finding((each.attribute, each.of, each.after), change.reason)
        for each in change.attributes
        if each.content and not found
    ]
    return found or [Finding(("version", str(change.after)), change.reason)]


def _block(block: BlockChange, text: str) -> Finding:
    removed, added = _changed_words(block)
    signs = (*(f"-{word}" for word in removed), *(f"+{word}" for word in added))
    return Finding(("block", block.lineage), text, frozenset(signs))


def _changed_words(block: BlockChange) -> tuple[Counter[str], Counter[str]]:
    before, after = (Counter(words(text or "")) for text in (block.before, block.after))
    return before - after, after - before


def _sizable(rule: Rule, blocks: Sequence[BlockChange]) -> list[Finding]:
    """Return the blocks if enough of their words were added or removed."""
    changed = sum(counts.total() for block in blocks for counts in _changed_words(block))
    if changed < rule.size:
        return []
    return [_block(block, _shown(block)) for block in blocks]


def _shown(block: BlockChange) -> str:
    text = collapse(word_diff(block.before or "", block.after or ""))
    label = f"{block.label}: " if block.label else ""
    return f"{label}{text[:MOST_SHOWN]}{'…' if len(text) > MOST_SHOWN else ''}"


def _texts(rule: Rule, change: WatchedChange, blocks: Sequence[BlockChange]) -> Iterator[tuple[str, str]]:
    """Yield the texts that changed: of blocks, and of the title and images unless the rule has labels."""
    yield from ((block.before or "", block.after or "") for block in blocks)
    for each in () if rule.labels else change.attributes:
        if each.attribute in (Attribute.TITLE, Attribute.ALT) and each.content:
            yield each.before, each.after


def _term(term: str, texts: Sequence[tuple[str, str]], sign: str) -> Iterator[Finding]:
    """Yield a finding if a term occurs more often, or less often, in the changed texts than before."""
    if sign == "removed":
        texts = [(after, before) for before, after in texts]
    counts = [(count(term, less), count(term, more)) for less, more in texts]
    if sum(more - less for less, more in counts) > 0:
        where = next(index for index, (less, more) in enumerate(counts) if more > less)
        yield Finding((sign, term), f"“{term}” was {sign}: {excerpt(term, texts[where][1])}")


def _fields(rule: Rule, change: WatchedChange) -> Iterator[Finding]:
    for each in change.attributes:
        if each.attribute is Attribute.FIELD and each.of in rule.fields:
            edit = collapse(word_diff(each.before, each.after))
            yield Finding(("field", each.of, each.after), f"{each.of}: {edit[:MOST_SHOWN]}")


def _numbers(rule: Rule, change: WatchedChange) -> Iterator[Finding]:
    for each in change.attributes:
        bounds = rule.numbers.get(each.of) if each.attribute is Attribute.FIELD else None
        for which, text in bounds.crossed(*map(_number, (each.before, each.after))) if bounds else ():
            yield Finding(("number", each.of, which), f"{each.of} {text}, was {each.before or 'missing'}")


def _number(text: str) -> float | None:
    """Return the value of a field as a number, None if it is none."""
    try:
        return float(text)
    except ValueError:
        return None
