"""Time is linear: an input that is twice as long takes at most 2.5 times as long, however it is made."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from archivebot.content.page import content
from archivebot.content.summary import summary
from archivebot.crawl.reading.metarobots import directives
from archivebot.crawl.reading.unchanged import may_forbid
from archivebot.crawl.retry import retry_after
from archivebot.exceptions import UsageError
from archivebot.http.robotstxt import RobotsTxt
from archivebot.hypertext import read, resolve
from archivebot.hypertext.references import refresh_target
from archivebot.hypertext.scripts import code_of, literals
from archivebot.significance.reading import Reading
from archivebot.significance.significance import significance
from archivebot.text import words
from archivebot.text.urltokens import url_tokens
from archivebot.urls import canonical_url, host_of, trap, urlkey

SIZE = 1 << 20
DOUBLINGS = 4
MOST = 2.5
FLOOR = 0.05  # seconds; what is shorter is noise, and a busy machine has more of it

PAGE = "http://a.example/b/"
AGENT = b"User-agent: *\n"


def repeated(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + unit * (size // len(unit)) + after


def numbered(form: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + "".join(form % i for i in range(size // (len(form) + 4))) + after


def titled(form: str) -> Callable[[int], str]:
    """Return pages whose title is as long as their lines together."""
    title, lines = numbered("a%d ", "<title>", "</title>"), numbered(form)
    return lambda size: title(size // 2) + lines(size // 2)


def of_url(url: str) -> None:
    host_of(url)
    trap(url)
    url_tokens(url)


def canonical(url: str) -> None:
    try:
        canonical_url(url)
        resolve("x", url)
    except UsageError:
        pass


def ask_robots(text: str) -> None:
    RobotsTxt.parse(text.encode(), "archivebot").allows(PAGE + "a" * 1000)


def read_page(text: str) -> None:
    read(text.encode(), "utf-8", PAGE, context=True)


def read_header(text: str) -> None:
    directives([("robots", text)], [text, *text.split(";")], "archivebot")
    retry_after(text)
    refresh_target(text)
    refresh_target("0;url" + text)


def read_content(text: str) -> None:
    content(text.encode())
    summary(text)


def edit(text: str) -> None:
    significance(Reading(f"<p>{text} old".encode()), Reading(f"<p>new {text}".encode()))


URLS = {
    "path": repeated("a", PAGE),
    "slashes": repeated("/", PAGE),
    "dots": repeated("a/../", PAGE),
    "up": repeated("../", PAGE),
    "port": repeated("0", "http://a:", "x/"),
    "host": repeated("a", "http://"),
    "labels": repeated("a.", "http://"),
    "unicode host": repeated("é.", "http://"),
    "user": repeated("a@", "http://", "b/"),
    "percent": repeated("%", PAGE),
    "nested": lambda size: PAGE + "%25" * (size // 6) + "32" * (size // 6),
    "nested, too": lambda size: PAGE + "%2" * (size // 4) + "5" * (size // 4),
    "escapes": repeated("%61", PAGE),
    "unicode": repeated("é", PAGE),
    "fields": numbered("a%d=1&", PAGE + "?"),
    "empty fields": repeated("&", PAGE + "?"),
    "path session": repeated("a/..;jsessionid=1/", PAGE),
    "session": repeated("sid=0123456789abcdef0123456789abcdef", PAGE + "?"),
    "cold fusion": repeated("cfid=", PAGE + "?"),
    "asp": repeated("/(a(012345678901234567890123)", PAGE, "x.aspx"),
    "asp, too": repeated("/(012345678901234567890123)", PAGE, ".asp"),
    "segments": repeated("a/b/", PAGE),
    "dates": repeated("2030/01/", PAGE),
    "years": repeated("&year=2030", PAGE + "?"),
    "blanks": repeated(" ", PAGE, "a"),
    "no scheme": repeated("a:"),
    "data": repeated("x", "data:text/html,"),
}
ROBOTS = {
    "newlines": repeated("\n", AGENT.decode()),
    "blanks": repeated(" ", AGENT.decode()),
    "blank lines": repeated(" \r", AGENT.decode()),
    "rules": numbered("Disallow: /%d\n", AGENT.decode()),
    "stars": repeated("Disallow: /" + "*a" * 8000 + "*b\n", AGENT.decode()),
    "star": repeated("*a", AGENT.decode() + "Disallow: /"),
    "runs": numbered("Disallow: *" + "a" * 40 + "b%d\n", AGENT.decode()),
    "indexes": numbered("Allow: /%d/index.html\n", AGENT.decode()),
    "agents": repeated(AGENT.decode()),
    "keys": repeated("user-agent"),
    "comments": repeated("#\n"),
    "escapes": repeated("%e3", AGENT.decode() + "Disallow: /"),
}
PAGES = {
    "attributes": numbered("a%d=1 ", "<a ", ">b</a>"),
    "quoted attributes": numbered("a%d='>' ", "<a ", ">b</a>"),
    "tags of attributes": repeated("<a " + " ".join(f"a{i}" for i in range(900)) + ">"),
    "open tags": repeated("<a "),
    "open quotes": repeated('<a b="'),
    "written attributes": numbered("a%d=1 ", "<script>document.write('<a ", ">b</a>')</script>"),
    "roots": numbered("<html a%d=1>"),
    "links": numbered("<a href=%d>x</a>"),
    "open links": repeated("<a href=1>x"),
    "blocks": repeated("<div>"),
    "cells": repeated("<tr><td>"),
    "forms": repeated("<form><p>"),
    "fonts": repeated("<font><p>"),
    "lines": repeated("a<br>"),
    "images": repeated("<a href=x><img alt=y>"),
    "less than": repeated("<"),
    "entities": repeated("&amp"),
    "comments": repeated("<!--"),
    "title": repeated("a ", "<title>", "</title>"),
    "base": repeated("a/", "<base href='", "'><a href=b>"),
    "bases": repeated("<base href='/x'>"),
    "relation": repeated("a ", "<a href=x rel='", "'>"),
    "sources": repeated("a 1x,", "<img srcset='", "'>"),
    "data": repeated("x", "<a href='data:", "'>"),
    "clicks": repeated("<p onclick=\"location='x'\">"),
    "robots": repeated("<meta name=robots content=noindex>"),
    "written": repeated("<a>", "<script>document.write('", "')</script>"),
}
SCRIPTS = {
    "location": repeated("location="),
    "blanks": repeated(" ", "location"),
    "blanks, too": repeated(" ", "document.write("),
    "open": repeated("window.open("),
    "write": repeated("document.write('a'+"),
    "quotes": repeated("document.write('"),
    "calls": repeated("document.write(a(b)("),
    "names": repeated("a+", "document.write("),
    "escapes": repeated("\\", "location='"),
    "templates": repeated("location=`"),
    "address": repeated("%27", "javascript:"),
}
HEADERS = {
    "words": repeated("noindex,"),
    "agents": repeated("a:"),
    "both": repeated(",:"),
    "headers": repeated("noindex;"),
    "blanks": repeated(" "),
    "digits": repeated("1"),
    "brackets": repeated("("),
    "dates": repeated("Wed, 21 Oct 2026 "),
    "colons": repeated(":"),
    "quotes": repeated('"'),
    "escapes": repeated("\\"),
    "addresses": repeated("0;url="),
}
CONTENTS = {
    "blanks": repeated(" ", "<meta name=date content='1", "x'>"),
    "dashes": repeated("-", "<article><time>1", "x</time>"),
    "days": repeated("1 ", "<meta name=date content='", "'>"),
    "months": repeated("1 may ", "<meta name=date content='", "'>"),
    "escapes": repeated("\\", "<script>", "</script>"),
    "names": repeated('"datePublished" ', "<script>", "</script>"),
    "lists": repeated("[", "<script type='application/ld+json'>", "</script>"),
    "numbers": repeated("1,", "<script type='application/ld+json'>[", "1]</script>"),
    "prices": repeated("<p>$ 1</p>", "<h1>x</h1>"),
    "headings": repeated("<h1>x</h1>"),
    "titled headings": titled("<h1>a%d</h1>"),
    "titled lines": titled("<p>%db</p>"),
    "breaks": repeated("a<br> "),
    "rows": repeated("a\n\n", "<pre>"),
    "sentences": repeated(". ", "Terns. "),
}
LINES = {
    "word": repeated("a "),
    "words": numbered("a%d "),
    "pairs": repeated("a b "),
    "signs": repeated("网"),
    "no blanks": repeated("a"),
    "prices": repeated("<p>$1</p>", "<h1>x</h1>"),
    "headings": repeated("<h1>$1</h1>"),
    "links": repeated("<p><a href=a>a</a>"),
    "images": repeated("<p><img src=a alt=b>"),
}
TAGS = {
    "tags": repeated("<meta "),
    "double quotes": repeated('<meta "'),
    "single quotes": repeated("<meta '"),
    "open values": repeated("<meta ='\""),
    "values": repeated('<meta a="x" '),
    "blanks": repeated(" ", "<meta a="),
}
TEXTS = {
    "marks": repeated("\u0315\u0300", "a"),
    "katakana marks": repeated("\u0300\uff9e", "a"),
}
KINDS: dict[str, tuple[dict[str, Callable[[int], str]], Callable[[str], Any]]] = {
    "canonical_url": (URLS, canonical),
    "urlkey": (URLS, urlkey.__wrapped__),
    "url": (URLS, of_url),
    "robots.txt": (ROBOTS, ask_robots),
    "page": (PAGES, read_page),
    "script": (SCRIPTS, lambda text: (list(literals(text)), code_of(text))),
    "header": (HEADERS, read_header),
    "content": (CONTENTS, read_content),
    "text": (TEXTS, words),
    "edit": (LINES, edit),
    "page after a 304": (TAGS, lambda text: may_forbid(text.encode())),
}


def seconds(work: Callable[[str], Any], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, (cases, _) in KINDS.items() for name in cases]
)
def test_twice_the_input_takes_at_most_two_and_a_half_times_as_long(kind: str, name: str) -> None:
    """Four doublings are taken at once: what is linear grows 16 times, what is quadratic 256 times."""
    cases, work = KINDS[kind]
    part, whole = cases[name](SIZE >> DOUBLINGS), cases[name](SIZE)
    for _ in range(5):  # others may work on this machine, too
        before, after = seconds(work, part), seconds(work, whole)
        if after <= MOST**DOUBLINGS * max(before, FLOOR):
            return
    pytest.fail(f"{len(whole)} characters take {after:.3f} s, {len(part)} of them {before:.3f} s")
