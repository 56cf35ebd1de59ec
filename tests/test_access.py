"""Realms of sites: a crawl gets in, and no secret is found in what it leaves."""

from __future__ import annotations

import gzip
import signal
from base64 import b64encode
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from archivebot.access.file import read_realms
from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import UsageError
from tests.commands import run_scrapy
from tests.conftest import Crawl, Crawled
from tests.mockserver import Asked, MockServer, Reply, html
from tests.test_crawl_frontier import wait_for

USER, PASSWORD, SESSION = "reader-of-tides", "correct-horse-7193", "session-58121"
TOKEN = "token-of-the-form-3377"


class Members:
    """A site whose pages are only for those who have a session; it ends after some pages."""

    def __init__(self, site: MockServer, lasts: int = 1000) -> None:
        self.site, self.lasts = site, lasts
        self.logins = self.seen = 0
        site.routes |= {"/login": self.login, "/logout": self.logout, "/closed": Reply(b"no", 403)}
        for path in ("/", "/a", "/b", "/c"):
            site.routes[path] = self.page

    def login(self, asked: Asked) -> Reply:
        if not asked.body:
            fields = b"<input name=user><input name=password type=password>"
            token = b"<input type=hidden name=csrf value=%s>" % TOKEN.encode()
            search = b"<form><input name=q></form>"
            return Reply(
                search + b"<form method=post action=/login>" + fields + token + b"</form>",
                headers=(("Set-Cookie", f"visitor={SESSION}-before; Path=/"),),
            )
        given = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        if given != {"user": USER, "password": PASSWORD, "csrf": TOKEN}:
            return self.login(Asked("/login", {}, 0.0))
        self.logins += 1
        self.seen = 0
        last = ("Set-Cookie", f"last={SESSION}; Path=/")
        self.site.routes["/welcome"] = Reply(b"<p>Welcome", headers=(last,))
        session = ("Set-Cookie", f"sid={SESSION}-{self.logins}; Path=/; HttpOnly")
        return Reply(b"", 303, (("Location", "/welcome"), session))

    def logout(self, asked: Asked) -> Reply:
        self.seen = self.lasts
        return Reply(b"<p>Good-bye")

    def page(self, asked: Asked) -> Reply:
        cookies = SimpleCookie(asked.headers.get("Cookie", ""))
        is_in = self.logins and "sid" in cookies and cookies["sid"].value == f"{SESSION}-{self.logins}"
        if not is_in or self.seen >= self.lasts:
            return Reply(b"", 302, (("Location", f"/login?next={asked.path}"),))
        self.seen += 1
        reply = html("/a", "/b", "/c", "/logout", "/closed")
        return Reply(
            reply.body + f"<p>Tides of {asked.path}".encode(),
            headers=(*reply.headers, ("Set-Cookie", f"seen={SESSION}-{asked.path[1:]}; Path=/")),
        )


def secrets(folder: Path, text: str) -> str:
    path = folder / "secrets.toml"
    path.write_text(text, "utf-8")
    path.chmod(0o600)
    return f"ARCHIVE_SECRETS={path}"


def form(site: MockServer, password: str = PASSWORD) -> str:
    return f"""
[[site]]
match = "127.0.0.1:{site.port}"
login = "{site.url("/login")}"
fields = {{ user = "{USER}", password = "{password}" }}
"""


def everything(crawl: Crawl, done: Crawled) -> Iterator[tuple[str, bytes]]:
    """Yield all that a crawl left: its log, its files, decoded bodies, and exports of the archive."""
    out = crawl.folder / "exported"
    for kind, name in (("warc", out), ("jsonl", out / "all.jsonl"), ("wacz", out / "all.wacz")):
        assert not run_scrapy(
            ("export", kind, "--output", str(name), "-s", f"ARCHIVE_URI={crawl.uri}")
        ).returncode
    yield "log", done.log.encode()
    for path in crawl.folder.rglob("*"):
        if path.is_file() and path.name not in ("secrets.toml", "cookies.txt"):
            data = path.read_bytes()
            yield path.name, data
            if path.suffix == ".gz":
                yield path.name, gzip.decompress(data)
    with Archive.reader(ArchiveConfig(uri=crawl.uri)) as archive:
        for _, url in archive.pages():
            for capture in archive.captures(url):
                yield url, repr(capture).encode() + repr(capture.headers).encode()
                if capture.wire:
                    yield url, capture.wire.request + capture.wire.received
                if capture.digest:
                    yield url, archive.body(capture)


def assert_no_secret(crawl: Crawl, done: Crawled, *more: str) -> None:
    basic = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    for where, data in everything(crawl, done):
        for secret in (PASSWORD, USER, SESSION, TOKEN, basic, *more):
            assert secret.encode() not in data, f"{secret} is in {where}"


def test_a_site_behind_a_log_in_is_crawled_and_no_secret_is_left(crawl: Crawl, site: MockServer) -> None:
    members = Members(site)
    raw = ("-s", f"ARCHIVE_WARC={crawl.folder}/raw", "-s", "LOG_LEVEL=DEBUG")
    done = crawl("-s", secrets(crawl.folder, form(site)), *raw, seeds=site.url())
    assert done.code == 0, done.log
    assert {record["url"]: record["status"] for record in done.records} == {
        **{site.url(path): 200 for path in ("/", "/a", "/b", "/c")},
        site.url("/closed"): 403,
    }
    assert b"Tides of /b" in body(crawl, site.url("/b"))
    assert members.logins == 1
    assert "/logout" not in site.paths()
    assert done.of(site.url("/a"))["wire"]["left_out"] == ["Cookie", "Set-Cookie"]
    assert list((crawl.folder / "raw").glob("*.warc.gz"))
    assert_no_secret(crawl, done)


def body(crawl: Crawl, url: str) -> bytes:
    with Archive.reader(ArchiveConfig(uri=crawl.uri)) as archive:
        return archive.body(archive.at(url, None))


def test_a_session_that_ends_is_begun_again(crawl: Crawl, site: MockServer) -> None:
    members = Members(site, lasts=2)
    done = crawl("-s", secrets(crawl.folder, form(site)), "-s", "CONCURRENT_REQUESTS=1", seeds=site.url())
    pages = {record["url"]: record["status"] for record in done.records}
    assert all(pages[site.url(path)] == 200 for path in ("/", "/a", "/b", "/c")), pages
    assert members.logins == 2
    assert_no_secret(crawl, done)


def test_a_wrong_password_archives_nothing_and_is_not_in_the_log(crawl: Crawl, site: MockServer) -> None:
    Members(site)
    done = crawl("-s", secrets(crawl.folder, form(site, "wrong-horse-1")), seeds=site.url())
    assert f"The log-in at {site.url('/login')} failed" in done.log
    assert (done.code, done.records) == (8, [])
    assert "archivebot: nothing could be fetched: the lines above say why" in done.log
    assert "wrong-horse-1" not in done.log


@pytest.mark.long
def test_pages_whose_log_in_is_interrupted_are_fetched_by_the_crawl_that_goes_on(
    crawl: Crawl, site: MockServer
) -> None:
    members = Members(site)
    options = ("-s", secrets(crawl.folder, form(site)), "-s", "DOWNLOAD_TIMEOUT=60")
    site.routes["/login"] = Reply(delay=60)
    process = crawl.start(*options, seeds=site.url())
    wait_for(lambda: "/login" in site.paths(), process)
    process.send_signal(signal.SIGINT)
    interrupted = crawl.finish(process)
    assert interrupted.code == 0
    assert "log-in" not in interrupted.log
    states = crawl.ask("frontier")["states"]
    assert (states["queued"], states["rejected"]) == (1, 0)
    site.routes["/login"] = members.login
    assert crawl(*options, seeds=site.url()).of(site.url("/a"))["status"] == 200


def test_a_form_is_sent_in_the_encoding_of_its_page(crawl: Crawl, site: MockServer) -> None:
    sent: list[bytes] = []

    def login(asked: Asked) -> Reply:
        if asked.body:
            sent.append(asked.body)
            return Reply(b"", 303, (("Location", "/"),))
        head = "<meta charset=iso-8859-1><form method=post enctype=multipart/form-data>"
        page = f"{head}<input name=user value='\xe9'><input name=password>"
        return Reply(page.encode("latin-1"), type="text/html")

    site.routes |= {"/login": login, "/": html()}
    done = crawl("-s", secrets(crawl.folder, form(site, "\xfcber")), seeds=site.url())
    assert done.code == 0, done.log
    assert sent == [f"user={USER}&password=%FCber".encode()]
    assert "DeprecationWarning" not in done.log


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("<form action=/find><input name=q></form>", "has no form with the fields user, password"),
        ("<form><input name=user><input name=password></form>", "would send the secrets in a URL"),
        (
            "<form method=post action=http://127.0.0.1:9/x><input name=user><input name=password></form>",
            "would send the secrets to another site",
        ),
    ],
)
def test_secrets_are_sent_only_where_they_belong(
    crawl: Crawl, site: MockServer, page: str, reason: str
) -> None:
    site.routes["/login"] = Reply(page.encode())
    site.routes["/"] = html()
    done = crawl("-s", secrets(crawl.folder, form(site)), seeds=site.url())
    assert reason in done.log
    assert not any(asked.body for asked in site.asked)
    assert done.records == []
    assert PASSWORD not in done.log


def test_basic_authentication_is_sent_to_its_pages_only(crawl: Crawl, site: MockServer) -> None:
    basic = f"Basic {b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"

    def members(asked: Asked) -> Reply:
        if asked.headers.get("Authorization") != basic:
            return Reply(b"", 401, (("WWW-Authenticate", 'Basic realm="Members"'),))
        return Reply(b"<p>For members", headers=(("Set-Cookie", f"sid={SESSION}"),))

    site.routes |= {"/": html("/members/1", "/open"), "/members/1": members, "/open": html()}
    text = f'[[site]]\nmatch = "127.0.0.1/members/*"\nuser = "{USER}"\npassword = "{PASSWORD}"\n'
    done = crawl("-s", secrets(crawl.folder, text), seeds=site.url())
    assert done.of(site.url("/members/1"))["status"] == 200
    sent = {asked.path for asked in site.asked if "Authorization" in asked.headers}
    assert sent == {"/members/1"}
    assert_no_secret(crawl, done)


def test_the_cookies_of_a_jar_are_sent(crawl: Crawl, site: MockServer) -> None:
    members = Members(site)
    members.logins = 1
    jar = crawl.folder / "cookies.txt"
    jar.write_text(f"# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t{SESSION}-1\n")
    jar.chmod(0o600)
    text = '[[site]]\nmatch = "127.0.0.1"\ncookies = "cookies.txt"\n'
    done = crawl("-s", secrets(crawl.folder, text), seeds=site.url())
    assert done.of(site.url("/a"))["status"] == 200
    assert_no_secret(crawl, done)


def test_a_proxy_is_asked_with_its_password_for_the_pages_of_its_site(crawl: Crawl, site: MockServer) -> None:
    def asked_through(asked: Asked) -> Reply:
        return html() if asked.path == "http://far.example/" else Reply(b"", 404)

    for path in ("/robots.txt", "/"):
        site.routes[f"http://far.example{path}"] = asked_through
    text = f'[[site]]\nmatch = "far.example"\nproxy = "http://{USER}:{PASSWORD}@127.0.0.1:{site.port}"\n'
    done = crawl("-s", secrets(crawl.folder, text), seeds="http://far.example/", depth=0)
    assert [record["status"] for record in done.records] == [200], done.log
    assert all("Proxy-Authorization" in asked.headers for asked in site.asked)
    assert_no_secret(crawl, done)


GOOD = '[[site]]\nmatch = "a.example"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[site", "is not TOML; its lines are not shown"),
        ("[[sites]]", "there is no 'sites' here, only site; did you mean 'site'"),
        (GOOD, "line 1, site 1: write user and password, login and fields, cookies, or proxy"),
        (GOOD + 'user = "u"', "site 1: write user and password, or neither"),
        (GOOD + 'pasword = "hunter2"', "did you mean 'password'"),
        (GOOD + 'user = "u"\npassword = 17', "site 1, password: write a text"),
        (GOOD + 'login = "http://a.example/"', "write both or neither"),
        (GOOD + 'login = "http://b.example/"\nfields = {a = "b"}', "login: its address does not match"),
        (GOOD + 'login = "http://a.example/"\nfields = "x"', "fields: write a table"),
        (GOOD + 'proxy = "ftp://a.example"', "proxy: write an address"),
        (GOOD + 'cookies = "none.txt"', "cannot be read"),
        ('[[site]]\nmatch = "*"\nuser = "u"\npassword = "hunter2"', "match: name the host"),
        ('[[site]]\nmatch = "HTTPS://*"\nuser = "u"\npassword = "hunter2"', "match: name the host"),
        ('[[site]]\nmatch = "https://*/*"\nuser = "u"\npassword = "hunter2"', "match: name the host"),
    ],
)
def test_a_wrong_file_is_refused_and_no_value_of_it_is_printed(tmp_path: Path, text: str, said: str) -> None:
    name = secrets(tmp_path, text).partition("=")[2]
    with pytest.raises(UsageError) as error:
        read_realms(name)
    assert said in str(error.value)
    assert "hunter2" not in str(error.value)
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_a_file_that_others_may_read_is_refused(crawl: Crawl, site: MockServer) -> None:
    chosen = secrets(crawl.folder, form(site))
    (crawl.folder / "secrets.toml").chmod(0o640)
    done = crawl("-s", chosen, seeds=site.url())
    assert done.code == 2
    assert "others may read the secrets" in done.log
    assert not site.asked


def test_a_jar_that_others_may_read_or_that_is_none_is_refused(tmp_path: Path) -> None:
    name = secrets(tmp_path, GOOD + 'cookies = "cookies.txt"').partition("=")[2]
    jar = tmp_path / "cookies.txt"
    for mode, text, said in (
        (0o644, "# Netscape HTTP Cookie File\n", "others may read"),
        (0o600, "sid=1", "is no cookies"),
        (0o600, "# Netscape HTTP Cookie File\n", "has no cookie"),
    ):
        jar.write_text(text)
        jar.chmod(mode)
        with pytest.raises(UsageError, match=said):
            read_realms(name)
