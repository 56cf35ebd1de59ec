"""Reads the file of secrets: TOML with a table for each site."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from http.cookiejar import Cookie, LoadError, MozillaCookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from archivebot.access.realm import Login, Realm
from archivebot.config import file_text
from archivebot.exceptions import UsageError
from archivebot.toml.patterns import url_pattern
from archivebot.toml.tables import check_keys, listed, place, tables, texts
from archivebot.urls import parse_seed

_KEYS = ("match", "user", "password", "login", "fields", "cookies", "proxy")
# A pattern of every host would send the secrets of one site to all others.
_ANY_HOST = re.compile(r"(?:[a-z*]+://)?[*.]*(?:[:/].*)?", re.IGNORECASE)
_PROXIES = ("http", "https")


def read_realms(name: str) -> tuple[Realm, ...]:
    """Return the realms of a file; "" is no file.

    Raises UsageError with the place of the error, never with a value, and if others may read the file.
    """
    if not name:
        return ()
    text = _private_text(name)
    try:
        found = tables(text, name)
    except UsageError:
        raise UsageError(f"{name} is not TOML; its lines are not shown, because they may be secret") from None
    check_keys(found, ("site",), name)
    sites = listed(found, "site", name)
    return tuple(
        _realm(site, place(text, name, "site", number), Path(name).parent)
        for number, site in enumerate(sites, 1)
    )


def _private_text(name: str) -> str:
    """Return the text of a file that only its owner can read; raises UsageError."""
    try:
        mode = Path(name).stat().st_mode
    except OSError as error:
        raise UsageError(f"the file of secrets {name!r} cannot be read: {error.strerror}") from error
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"others may read the secrets in {name}: run chmod 600 {name}")
    return file_text(name, "file of secrets")


def _realm(found: Mapping[str, Any], at: str, folder: Path) -> Realm:
    check_keys(found, _KEYS, at)
    patterns = texts(found, "match", at)
    if not patterns or any(_ANY_HOST.fullmatch(pattern) for pattern in patterns):
        raise UsageError(f'{at}, match: name the host, for example "https://members.example.org/*"')
    given = {key: _text(found, key, at) for key in ("user", "password", "login", "cookies", "proxy")}
    if bool(given["user"]) != bool(given["password"]):
        raise UsageError(f"{at}: write user and password, or neither")
    if not any(given.values()):
        raise UsageError(f"{at}: write user and password, login and fields, cookies, or proxy")
    if ("login" in found) != ("fields" in found):
        raise UsageError(f"{at}: login is the page of a form, and fields its values: write both or neither")
    if given["proxy"] and urlsplit(given["proxy"]).scheme not in _PROXIES:
        raise UsageError(f"{at}, proxy: write an address that begins with http:// or https://")
    compiled = tuple(map(url_pattern, patterns))
    realm = Realm(
        at,
        compiled,
        (given["user"], given["password"]) if given["user"] else None,
        Login(parse_seed(given["login"]), _fields(found, at)) if given["login"] else None,
        _cookies(folder / given["cookies"], at) if given["cookies"] else (),
        given["proxy"],
    )
    if realm.login and not realm.opens(realm.login.url):
        raise UsageError(f"{at}, login: its address does not match, so the cookies would not reach the pages")
    return realm


def _text(found: Mapping[str, Any], key: str, at: str) -> str:
    value = found.get(key, "")
    if not isinstance(value, str) or (key in found and not value):
        raise UsageError(f"{at}, {key}: write a text")
    return value


def _fields(found: Mapping[str, Any], at: str) -> dict[str, str]:
    fields = found["fields"]
    if not isinstance(fields, dict) or not fields or not all(isinstance(v, str) for v in fields.values()):
        raise UsageError(f'{at}, fields: write a table, {{ username = "...", password = "..." }}')
    return fields


def _cookies(path: Path, at: str) -> tuple[Cookie, ...]:
    _private_text(str(path))
    jar = MozillaCookieJar()
    try:
        jar.load(str(path), ignore_discard=True, ignore_expires=True)
    except (LoadError, OSError, ValueError):
        raise UsageError(f"{at}, cookies: {path} is no cookies.txt in the format of Netscape") from None
    for cookie in jar:
        if not cookie.expires:  # browsers and curl write 0 for a cookie that lasts as long as the session
            cookie.expires, cookie.discard = None, True
    jar.clear_expired_cookies()
    if not len(jar):
        raise UsageError(f"{at}, cookies: {path} has no cookie that is still valid")
    return tuple(jar)
