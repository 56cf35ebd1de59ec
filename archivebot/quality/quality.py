"""The quality of a capture: the page itself, or a wall, an error or nothing in its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from archivebot.markup.edits import Edits
from archivebot.markup.media import Media, media_of
from archivebot.markup.page import ParsedPage
from archivebot.models import Quality, QualityKind
from archivebot.quality.phrases import fold, headed, markers, phrase_in, phrases
from archivebot.quality.signs import PLENTY, Signs, signs_of

# All thresholds are bytes of UTF-8 without white space outside links and furniture (signs.py). With the
# values here 7 of the 740 pages of wcxb-dev are not good (six whose bodies hold no text, one shell), 21 of
# the 3,604 versions of history-dev (13 shells, 8 bot walls), and 72 of the 741 pages of forms-dev are logins.

# A page with more text than this and the heading of a wall is an article about walls. At 1200 a page of
# wcxb-dev or webkb is taken for a bot wall; seven more logins of forms-dev are found.
HEADED = 600
# With more text than this, a sentence of a wall is one of many. At 800 one form of forms-dev is taken for a
# bot wall, at 1600 two pages of wcxb-dev or webkb for logins.
SHORT = 400
# The text of a page that shows only a form or a name. At 200 four more sign-ups or logins are found in
# forms-dev, but other pages with a login box resemble them.
BARE = 100
# A password field below the heading of a login, at the address of a login, is certain: with notes on security
# keys and new accounts such pages of forms-dev have up to 1,964.
LOGIN = 2000
# Consent walls list purposes and partners at length. No good page of the sets has such a title, so none is
# caught at 1000 or 3000.
CONSENT = 3000
# Stack traces have few links; articles that quote a trace have a site around them. No page of the sets begins
# like a trace.
TRACE_LINKS = 5
# Pages that scripts unveil or replace may still hold their text: 17 of wcxb-dev, 16 of them forums with the
# threads inside NOSCRIPT. Six of them are taken for shells at 4000, none more is found at 250.
HIDDEN = 1000

PLENTIFUL = f"{PLENTY} letters of prose or more"

LOGIN_URL = re.compile(r"/(?:(?:wp-)?log-?in|sign-?in|sign-?on|sso|auth)(?:[._]\w+)?/?$", re.IGNORECASE)
MISSING_URL = re.compile(r"/(?:(?:error|page)?[-_]?404|(?:page-?)?not-?found)(?:\.\w+)?/?$", re.IGNORECASE)
CONSENT_HOST = re.compile(r"^(?:consent|privacy-?gate|cmp)\.", re.IGNORECASE)
SENT_ON = re.compile(r"\blocation(?:\.href)?\s*=|\blocation\.(?:replace|assign)\(")


@dataclass(frozen=True)
class _Page:
    signs: Signs
    url: str

    @cached_property
    def folded(self) -> str:
        """The words of the page; most pages have too much text for a rule that needs them."""
        return fold(self.signs.text)

    def said(self, kind: str) -> str:
        """Return the sentence of a kind that the page says, or ""."""
        return phrase_in(self.folded, kind)

    @property
    def is_bare(self) -> bool:
        """Whether there is hardly any text, visible or not."""
        return self.signs.letters <= BARE and self.signs.hidden < HIDDEN

    @property
    def headings(self) -> list[str]:
        return [self.signs.title, *self.signs.headings[:2]]


def quality(status: int, body: bytes, content_type: str = "", url: str = "") -> Quality:
    """Return the quality of a capture, judged by its visible content.

    Phrases count only if there is little other text: an article about captchas, cookies or missing pages is
    good. A body that is not HTML is good unless it is blank. Redirects and 304 need no page and are good.

    >>> quality(200, b"<title>Page not found</title><p>Sorry.", "text/html").kind.value
    'soft_404'
    >>> quality(200, b" ", "text/html"), quality(304, b"").kind.value
    (Quality(kind=<QualityKind.EMPTY: 'empty'>, reason='no bytes'), 'good')
    """
    media = media_of(body, content_type)
    return judged(status, body, media, lambda: signs_of(ParsedPage(body, media.charset).document), url)


def judged(status: int, body: bytes, media: Media, signs: Callable[[], Signs], url: str) -> Quality:
    """Judge a page as :func:`quality` does, by its ``signs``, which are read only if needed."""
    if 300 <= status < 400 or status in (204, 205):
        return Quality(QualityKind.GOOD, f"status {status} needs no page")
    found = _judge(body, media, signs, url)
    if found.kind in (QualityKind.GOOD, QualityKind.EMPTY) and status >= 400:
        return Quality(QualityKind.ERROR_PAGE, f"status {status}")
    return found


def is_kept(found: Quality, edits: Edits) -> bool:
    """Return whether a page has the quality that was found for an earlier version, by the edits since."""
    if not (edits.keeps_text and edits.keeps("style", "hidden")):
        return False
    if found.reason == PLENTIFUL:
        return True
    ids = {edit.before.get("id") != edit.after.get("id") for edit in edits.tags}
    return not edits.texts and not any(ids) and edits.keeps("type", "value", "src", "content", "http-equiv")


def _judge(body: bytes, media: Media, read: Callable[[], Signs], url: str) -> Quality:
    if not body.strip():
        return Quality(QualityKind.EMPTY, "no bytes")
    if not media.is_page:
        return Quality(QualityKind.GOOD, "not HTML")
    signs = read()
    if signs.prose >= PLENTY:
        return Quality(QualityKind.GOOD, PLENTIFUL)
    page = _Page(signs, url)
    for wall, rule in RULES:
        if reason := rule(page):
            return Quality(wall, reason)
    return Quality(QualityKind.GOOD, f"{signs.letters} letters and no sign of a wall")


def _bot(page: _Page) -> str:
    """Return the sign of a bot wall: a challenge script, or the phrases of a wall in a bare page."""
    signs = page.signs
    if signs.prose > HEADED and signs.letters > SHORT:
        return ""
    scripts = " ".join(signs.scripts).lower()
    script = next((marker for marker in markers("bot_wall") if marker in scripts), "")
    heading, sentence = headed(page.headings, "bot_wall"), page.said("bot_wall")
    if script and (signs.prose <= HEADED and (heading or sentence)):
        return f"script {script}, {heading or sentence!r}"
    if script and page.is_bare and not signs.passwords and signs.controls <= 1:
        return f"script {script} and hardly any text"
    if heading and (sentence or signs.letters <= SHORT) and signs.prose <= HEADED:
        return f"heading {heading!r}"
    return f"says {sentence!r}" if sentence and signs.letters <= SHORT else ""


def _consent(page: _Page) -> str:
    """Return the sign of a consent wall: a button to accept, below the heading of a wall."""
    signs = page.signs
    button = next((b for b in map(fold, signs.buttons) if b in phrases("consent_wall", "buttons")), "")
    if not button or signs.prose > CONSENT:
        return ""
    if CONSENT_HOST.match(urlsplit(page.url).hostname or ""):
        return f"host of consents, button {button!r}"
    if heading := headed([signs.title], "consent_wall"):
        return f"title {heading!r}, button {button!r}"
    if signs.prose <= HEADED and (heading := headed(page.headings, "consent_wall")):
        return f"heading {heading!r}, button {button!r}"
    sentence = page.said("consent_wall") if signs.letters <= SHORT else ""
    return f"says {sentence!r}, button {button!r}" if sentence else ""


def _missing(page: _Page) -> str:
    """Return the sign of a missing page: its heading, its address, or its sentence in a short page."""
    signs = page.signs
    if signs.prose > HEADED:
        return ""
    if heading := headed(page.headings, "soft_404"):
        return f"heading {heading!r}"
    sentence = page.said("soft_404") if signs.prose <= SHORT else ""
    if MISSING_URL.search(urlsplit(page.url).path):
        return "address of a missing page"
    return f"says {sentence!r}" if sentence else ""


def _error(page: _Page) -> str:
    """Return the sign of an error page: a default title, a heading, a stack trace, or a sentence."""
    signs = page.signs
    if (title := fold(signs.title)) in phrases("error_page", "defaults"):
        return f"default page {title!r}"
    if signs.prose <= HEADED and (heading := headed(page.headings, "error_page")):
        return f"heading {heading!r}"
    if signs.links <= TRACE_LINKS:
        opening = next((p for p in phrases("error_page", "openings") if page.folded.startswith(p)), "")
        if opening:
            return f"begins with {opening!r}"
    sentence = page.said("error_page") if signs.prose <= SHORT else ""
    return f"says {sentence!r}" if sentence else ""


def _login(page: _Page) -> str:
    """Return the sign of a login wall: a password field with little text, or the demand to log in."""
    signs = page.signs
    # A second heading beside many links belongs to a box at the side.
    heading = headed(page.headings[: 3 if signs.letters <= HEADED else 2], "login_wall")
    address = LOGIN_URL.search(urlsplit(page.url).path) is not None
    if signs.passwords and (heading or address):
        limit = LOGIN if heading and address else HEADED
        if signs.prose <= limit:
            return f"password, heading {heading!r}" if heading else "password, address of a login"
    if signs.prose > SHORT:
        return ""
    if signs.passwords and page.is_bare:
        return "password and hardly any text"
    if heading and signs.controls and signs.letters <= SHORT:
        return f"form, heading {heading!r}"
    sentence = page.said("login_wall") if signs.passwords or signs.letters <= SHORT else ""
    return f"says {sentence!r}" if sentence else ""


def _shell(page: _Page) -> str:
    """Return the sign of a script shell: scripts with hardly any visible text, or a request for scripts."""
    signs = page.signs
    if not signs.scripts or signs.frames or signs.refresh:
        return ""
    if signs.letters <= SHORT and signs.hidden < HIDDEN and not signs.controls:
        wish = phrase_in(fold(f"{signs.unscripted} {page.folded}"), "script_shell")
        if wish:
            return f"says {wish!r}"
    if not page.is_bare or signs.pictures or signs.controls or signs.links:
        return ""
    if SENT_ON.search(" ".join(signs.scripts)):
        return ""
    waits = not signs.letters or (signs.mounts and not signs.headings)
    return f"scripts and {signs.letters} letters" if waits else ""


def _empty(page: _Page) -> str:
    """Return the sign of an empty page: nothing visible, or only a link elsewhere."""
    signs = page.signs
    if signs.frames or signs.controls or signs.pictures or not page.is_bare:
        return ""
    if signs.refresh or SENT_ON.search(" ".join(signs.scripts)):
        return "only sends the visitor on"
    return "" if signs.letters else "nothing to see"


RULES: tuple[tuple[QualityKind, Callable[[_Page], str]], ...] = (
    (QualityKind.BOT_WALL, _bot),
    (QualityKind.ERROR_PAGE, _error),
    (QualityKind.SOFT_404, _missing),
    (QualityKind.CONSENT_WALL, _consent),
    (QualityKind.LOGIN_WALL, _login),
    (QualityKind.SCRIPT_SHELL, _shell),
    (QualityKind.EMPTY, _empty),
)
