"""Rendering: a real browser lays a page out, without its scripts and without the network."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from archivebot.exceptions import UsageError
from archivebot.vision.block import Box, around
from archivebot.vision.node import Font, Node

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDTH, HEIGHT = 1280, 1024
MOST_SECONDS = 30

# Maximum of elements and texts of a page; the longest page of the WCXB corpus has under 20,000.
MOST_NODES = 20_000

# The address of the rendered page. No name ends in .invalid (RFC 2606), so no server is ever contacted.
ADDRESS = "http://page.invalid/"

# The resolver of the browser finds nothing, so that not even a preconnect hint reaches a host.
_ARGUMENTS = ("--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars")
_CLEAR = "rgba(0, 0, 0, 0)"


class Browser:
    """A headless Chromium that lays pages out; a context manager, one start for many pages.

    Scripts of a page do not run, and none of its resources is fetched: it has only the styles in its own
    bytes. Raises UsageError if Playwright or a browser is missing.
    """

    def __enter__(self) -> Browser:
        try:
            from playwright.sync_api import Error, sync_playwright
        except ImportError as error:
            raise UsageError("visual blocks need Playwright: pip install playwright") from error
        program = next(filter(None, map(shutil.which, BROWSERS)), None)
        if program is None:
            raise UsageError("visual blocks need a browser: apt-get install chromium")
        self._playwright = sync_playwright().start()
        try:
            self._browser = self._playwright.chromium.launch(executable_path=program, args=list(_ARGUMENTS))
            self._context = self._browser.new_context(
                java_script_enabled=False,
                offline=True,
                service_workers="block",
                accept_downloads=False,
                viewport={"width": WIDTH, "height": HEIGHT},
            )
            self._context.set_default_timeout(MOST_SECONDS * 1000)
        except Error as error:
            self._playwright.stop()
            raise UsageError(f"{program} does not start: {error.message.splitlines()[0]}") from error
        return self

    def __exit__(self, *error: object) -> None:
        self._browser.close()
        self._playwright.stop()

    def render(self, text: str) -> Node | None:
        """Lay an HTML page out; None if it shows nothing.

        Raises UsageError if the browser fails or takes longer than :data:`MOST_SECONDS`.
        """
        from playwright.sync_api import Error

        page = self._context.new_page()
        try:
            return tree(_laid_out(page, text.encode("utf-8", "replace")))
        except Error as error:
            raise UsageError(f"the browser gave up on the page: {error.message.splitlines()[0]}") from error
        finally:
            page.close()


def _laid_out(page: Page, body: bytes) -> list[Mapping[str, Any]]:
    """Show a page in UTF-8 and return its nodes as geometry.js records them."""
    given = False

    def answer(route: Route) -> None:
        nonlocal given
        if given or route.request.url != ADDRESS:
            route.abort("aborted")
        else:
            given = True
            route.fulfill(body=body, content_type="text/html; charset=utf-8")

    page.route("**/*", answer)
    page.goto(ADDRESS, wait_until="load")
    script = files(__package__).joinpath("geometry.js").read_text("utf-8")
    records: list[Mapping[str, Any]] = page.evaluate(script, MOST_NODES)
    return records


def tree(records: Sequence[Mapping[str, Any]]) -> Node | None:
    """Return the tree of records of nodes, parents first, without invisible nodes.

    >>> body = {"up": -1, "tag": "body", "box": [0, 0, 9, 9], "path": "/html/body"}
    >>> text = {"up": 0, "tag": "", "box": [0, 0, 5, 9], "path": "/html/body", "text": " Hello "}
    >>> node = tree([body, text])
    >>> node.box, node.children[0].text, tree([body]), tree([])
    (Box(left=0, top=0, right=5, bottom=9), 'Hello', None, None)
    """
    children: list[list[Node]] = [[] for _ in records]
    backgrounds = ["rgb(255, 255, 255)"]  # of the page, then of each node
    for record in records:
        own = record.get("background", _CLEAR)
        backgrounds.append(backgrounds[record["up"] + 1] if own == _CLEAR else own)
    for at in range(len(records) - 1, -1, -1):
        up = records[at]["up"]
        node = _node(records[at], backgrounds[at + 1], backgrounds[up + 1], tuple(reversed(children[at])))
        if up < 0 or node is None:
            continue
        children[up].append(node)
    return node if records else None


def _node(record: Mapping[str, Any], background: str, behind: str, children: tuple[Node, ...]) -> Node | None:
    """Return a node, or None if nothing of it is visible.

    The rectangle of an element contains all its visible contents; its own rectangle counts if it has a
    border, a colour or a content that the browser draws.
    """
    own, text = Box(*record["box"]), str(record.get("text", "")).strip()
    shows = text if not record["tag"] else record.get("drawn") or record.get("framed") or background != behind
    boxes = [child.box for child in children]
    if shows and own.width > 0 and own.height > 0:
        boxes.append(own)
    if not boxes:
        return None
    return Node(
        record["tag"],
        around(boxes),
        record["path"],
        text,
        Font(record.get("size", 16.0), record.get("weight", 400)),
        background,
        bool(record.get("inline")),
        bool(record.get("lifted")),
        children,
    )
