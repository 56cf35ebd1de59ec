"""The sample site in a browser: live, then offline out of the archive, where it must look the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from archivebot.sample.server import SampleSite, paths
from archivebot.vision.render import BROWSERS
from tests.conftest import Crawl
from tests.served import Served, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDE = {"width": 1000, "height": 1400}
# The size of a window, and the pixels of the screen for each of its own: with two, another picture is chosen.
WINDOWS = [(WIDE, 1.0), ({"width": 420, "height": 900}, 2.0)]
PAGES = [path for path in paths("first") if path.endswith(".html")]
NOTED = "document.documentElement.dataset.scripts"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no browser: apt-get install chromium")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=program)
        yield found
        found.close()


def shots(page: Page, addresses: list[str]) -> list[bytes]:
    """Return a picture of each address; the browser takes it when the fonts are loaded."""
    found = []
    for address in addresses:
        answer = page.goto(address, wait_until="load")
        assert answer is not None
        assert answer.status == 200, address
        found.append(page.screenshot(full_page=True, animations="disabled"))
    return found


@pytest.mark.long
@pytest.mark.parametrize(("window", "scale"), WINDOWS)
def test_the_sample_site_looks_the_same_out_of_the_archive(
    browser: Browser, crawl: Crawl, window: dict[str, int], scale: float
) -> None:
    with browser.new_context(viewport=window, device_scale_factor=scale) as context:
        page = context.new_page()
        with SampleSite(0).running() as site:
            home = site.url.removesuffix("/")
            live = shots(page, [home + path for path in PAGES])
            page.goto(f"{home}/gallery.html")
            assert page.evaluate(NOTED) == "run"
            seeds = ",".join(home + path for path in PAGES)
            assert crawl(seeds=seeds, requisites="yes").code == 0
        with serving(crawl.uri) as server:
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            failed: list[str] = []
            page.on("response", lambda got: failed.append(got.url) if got.status >= 400 else None)
            replayed = shots(page, [replay(server, home + path) for path in PAGES])
            assert replayed == live
            page.goto(replay(server, f"{home}/gallery.html"))
            assert page.locator("html").get_attribute("data-scripts") is None
            assert "/plates/ornaments.woff2" in "".join(asked)
            assert [url for url in asked if not url.startswith(server.address)] == []
            assert failed == []


def replay(server: Served, url: str) -> str:
    return f"{server.host}/web/2099if_/{url}"
