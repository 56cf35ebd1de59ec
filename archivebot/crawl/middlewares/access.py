"""Opens the realms of sites: basic authentication, log-in by form, cookies, proxies."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from form2request import form2request
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response, TextResponse
from scrapy.http.cookies import CookieJar
from scrapy.http.request import NO_CALLBACK

from archivebot.access.file import read_realms
from archivebot.access.realm import Realm
from archivebot.config import CrawlConfig
from archivebot.crawl.exchange import WIRE
from archivebot.crawl.reading.convert import address_after, headers_of
from archivebot.crawl.refusals import Interrupted, Refused
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import ROBOTS
from archivebot.markup.charset import is_wide
from archivebot.markup.contenttype import content_type
from archivebot.markup.media import media_of
from archivebot.wire import Wire, without_cookies

logger = logging.getLogger(__name__)

# The reasons in the frontier: a link that would end the session, and a site that did not let us in.
EXIT, CLOSED = "logout", "login_failed"
# The meta key of requests that only open a realm: they are neither archived nor written into WARC files.
APART = "archive_apart"
_LOGIN, _RETRIED = "archive_login", "archive_logged_in_again"

_URLENCODED = "application/x-www-form-urlencoded"
_HOPS = 5  # redirects after a log-in
# Log-ins again in a row that opened no page: others are closed to us, as those of the administrators are.
_FRUITLESS = 3


class AccessMiddleware:
    """Adds to each request what opens its realm, and takes cookies out of the answers.

    A log-in is made before the first page. It is made again if an answer leads back to its page or is 401,
    although pages were answered since the last log-in. Secrets are only in requests: neither captures nor
    logs have them.
    """

    def __init__(self, crawler: Crawler, realms: tuple[Realm, ...]) -> None:
        self.crawler = crawler
        self._realms = realms
        self._jars = {realm.name: _jar(realm) for realm in realms if realm.has_session}
        self._logins: dict[str, asyncio.Task[bool]] = {}
        self._count = Counter[str]()  # log-ins by realm
        self._used = set[str]()  # realms that were passed since the last log-in
        self._fruitless = Counter[str]()  # log-ins again in a row that opened no page, by realm

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> AccessMiddleware:
        realms = read_realms(CrawlConfig.from_settings(crawler.settings).secrets)
        if not realms:
            raise NotConfigured  # with a reason Scrapy would warn of it in each crawl
        return cls(crawler, realms)

    async def process_request(self, request: Request) -> None:
        realm = self._realm(request)
        if realm is None:
            return
        if APART not in request.meta and ROBOTS not in request.meta:
            if realm.is_exit(request.url):
                self._refuse(request, EXIT)
            if realm.login and not await self._open(realm):
                self._refuse(request, CLOSED)
            request.meta[_LOGIN] = self._count[realm.name]
        if realm.proxy:
            request.meta["proxy"] = realm.proxy  # Scrapy moves its password into a header
        if realm.authorization:
            request.headers["Authorization"] = realm.authorization
        if (jar := self._jars.get(realm.name)) is not None:  # an empty jar is false
            request.headers.pop("Cookie", None)
            jar.add_cookie_header(request)

    async def process_response(self, request: Request, response: Response) -> Response:
        realm = self._realm(request)
        if realm is None:
            return response
        if (jar := self._jars.get(realm.name)) is not None:
            jar.extract_cookies(response, request)
        if APART not in request.meta:
            response = await self._asked_again(realm, request, response) or response
        response.headers.pop("Set-Cookie", None)
        _strip(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Take the cookies out of the head of an answer that broke off."""
        if self._realm(request):
            _strip(request)

    def _realm(self, request: Request) -> Realm | None:
        return next((realm for realm in self._realms if realm.opens(request.url)), None)

    def _refuse(self, request: Request, reason: str) -> None:
        self.crawler.stats.inc_value(f"access/{reason}")
        Dispatcher.of(self.crawler).turn_down(request, reason)
        raise Refused(reason)

    async def _open(self, realm: Realm) -> bool:
        """Log in once for all requests that wait for it; return whether that succeeded."""
        if realm.name not in self._logins:
            self._logins[realm.name] = asyncio.create_task(self._log_in(realm))
        return await asyncio.shield(self._logins[realm.name])

    async def _asked_again(self, realm: Realm, request: Request, response: Response) -> Response | None:
        """Log in again if an answer means that the session has ended, and return the answer after that."""
        if realm.login is None or _LOGIN not in request.meta or _RETRIED in request.meta:
            return None
        if not _is_log_in(realm, response):
            self._used.add(realm.name)
            return None
        if request.meta[_LOGIN] == self._count[realm.name]:
            if realm.name not in self._used or self._fruitless[realm.name] >= _FRUITLESS:
                return None  # this page is closed to us: another log-in would not help
            self._used.discard(realm.name)
            del self._logins[realm.name]
        if not await self._open(realm):
            return None
        meta = {**request.meta, _RETRIED: True}
        again = request.replace(meta=meta, dont_filter=True, callback=NO_CALLBACK, errback=None)
        answer = await self.crawler.engine.download_async(again)
        request.meta[WIRE] = again.meta.get(WIRE)
        answer.request = request
        self._fruitless[realm.name] = self._fruitless[realm.name] + 1 if _is_log_in(realm, answer) else 0
        return answer

    async def _log_in(self, realm: Realm) -> bool:
        """Fill in the form of log-in; return whether the site let us in, and log why if not.

        Raises Interrupted if the crawl ends first: the pages that wait are not closed to us.
        """
        assert realm.login is not None
        self.crawler.stats.inc_value("access/logins")
        self._count[realm.name] += 1
        try:
            page = await self._follow(_apart(Request(realm.login.url)))
            form = _filled(realm, page)
            if isinstance(form, str):
                reason = form
            else:
                answer = await self._follow(form)
                is_open = answer.status < 400 and not _has_field(realm, answer)
                reason = "" if is_open else f"the answer has status {answer.status}, and is no page behind it"
        except Interrupted:
            raise
        except Exception as error:  # a failure of any kind must not show the request
            reason = type(error).__name__
        if reason:
            logger.error("The log-in at %s failed: %s", realm.login.url, reason)
        return not reason

    async def _follow(self, request: Request) -> Response:
        """Return the first answer that is no redirect; cookies are taken out of each answer."""
        for _ in range(_HOPS + 1):
            response = await self.crawler.engine.download_async(request)
            url = address_after(response)
            if url is None:
                break
            request = _apart(Request(url))
        return response


def _jar(realm: Realm) -> CookieJar:
    jar = CookieJar()
    for cookie in realm.cookies:
        jar.set_cookie(cookie)
    return jar


def _strip(request: Request) -> None:
    """Take the cookies that an answer sets out of its exchange."""
    wire: Wire | None = request.meta.get(WIRE)
    if wire is not None:
        received, left_out = without_cookies(wire.received)
        request.meta[WIRE] = replace(wire, received=received, left_out=(*wire.left_out, *left_out))


def _apart(request: Request) -> Request:
    """Return a request that passes by the frontier, the archive and the WARC files."""
    meta: dict[str, Any] = {ROBOTS: True, APART: True, "dont_redirect": True}
    return request.replace(callback=NO_CALLBACK, priority=1000, dont_filter=True, meta=meta)


def _filled(realm: Realm, page: Response) -> Request | str:
    """Return the request that a browser would make of the form; a text is the reason why there is none."""
    assert realm.login is not None
    fields = realm.login.fields
    if not isinstance(page, TextResponse) or page.status >= 400:
        return f"its page has status {page.status}"
    for number, form in enumerate(page.xpath("//form")):
        names = set(form.xpath(".//@name").getall())
        if not fields.keys() <= names:
            continue
        request = _submitted(page, number, fields)
        if request.method != "POST":
            return "its form would send the secrets in a URL"
        if not realm.opens(request.url):
            return "its form would send the secrets to another site"
        return _apart(request)
    return f"its page has no form with the fields {', '.join(fields)}"


def _submitted(page: TextResponse, number: int, fields: Mapping[str, str]) -> Request:
    """Return the request of a form with values, in the encoding of its page, as a browser sends it."""
    made = form2request(page.xpath("//form")[number], dict(fields), enctype=_URLENCODED)
    request: Request = made.to_scrapy(callback=NO_CALLBACK)
    sent = parse_qsl(request.body.decode("ascii"), keep_blank_values=True)
    charset = media_of(page.body, content_type(headers_of(page))).charset
    charset = "utf-8" if is_wide(charset) else charset  # WHATWG Encoding, "output encoding"
    return request.replace(body=urlencode(sent, encoding=charset, errors="xmlcharrefreplace"))


def _has_field(realm: Realm, page: Response) -> bool:
    """Return whether a page has the form of log-in again."""
    return isinstance(page, TextResponse) and isinstance(_filled(realm, page), Request)


def _is_log_in(realm: Realm, response: Response) -> bool:
    """Return whether an answer asks for the log-in instead of showing a page of the realm."""
    assert realm.login is not None
    if response.status == 401:
        return True
    target = address_after(response)
    return target is not None and target.partition("?")[0] == realm.login.url.partition("?")[0]
