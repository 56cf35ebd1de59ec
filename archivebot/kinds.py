"""The words for what happens: outcomes of a fetch, kinds of captures, qualities, labels, changes."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How one attempt to fetch a page ended; exactly one is recorded for every attempt."""

    FETCHED = "fetched"  # 2xx with a body
    NO_CONTENT = "no_content"  # 204, 205
    ACCEPTED = "accepted"  # 202: not ready yet
    NOT_MODIFIED = "not_modified"  # 304
    REDIRECT = "redirect"  # other 3xx
    DENIED = "denied"  # 401, 403, 407, 451
    NOT_FOUND = "not_found"  # 404
    GONE = "gone"  # 410
    THROTTLED = "throttled"  # 408, 425, 429
    CLIENT_ERROR = "client_error"  # other 4xx
    SERVER_ERROR = "server_error"  # 5xx
    ROBOTS_DENIED = "robots_denied"  # robots.txt forbids it, or could not be read
    EXCLUDED = "excluded"  # not kept: noindex, off topic, or beyond a limit of the crawl
    TIMEOUT = "timeout"  # no complete answer in time
    UNREACHABLE = "unreachable"  # name not resolved, connection refused or lost
    INCOMPLETE = "incomplete"  # the headers or the body ended early, or cannot be decoded
    TOO_LARGE = "too_large"  # more than DOWNLOAD_MAXSIZE
    PROTOCOL_ERROR = "protocol_error"  # not an HTTP answer
    UNRESOLVED = "unresolved"  # a revisit of a WARC file whose payload is not in the archive yet


class Kind(StrEnum):
    """The kind of a capture, compared with the earlier state of its page in the archive."""

    NEW = "new"  # first content of this URL
    CHANGED = "changed"  # content that differs from the latest version
    TOUCHED = "touched"  # different bytes, the same content: only furniture changed
    REVISIT = "revisit"  # the same bytes as the latest version, or 304
    REDIRECT = "redirect"  # points elsewhere
    GONE = "gone"  # 404 or 410 of a page that had content before
    NOT_FOUND = "not_found"  # 404 or 410 of a page that never had any
    FAILED = "failed"  # any other outcome without content; a wall or an error in place of a page
    EXCLUDED = "excluded"  # refused by robots, or beyond a limit of the crawl
    UNRESOLVED = "unresolved"  # a revisit of bytes that are not in the archive yet

    @property
    def has_content(self) -> bool:
        """Whether a capture of this kind shows content of its page."""
        return self in (Kind.NEW, Kind.CHANGED, Kind.TOUCHED, Kind.REVISIT)


class QualityKind(StrEnum):
    """What a fetch returned in place of the page."""

    GOOD = "good"
    SOFT_404 = "soft_404"  # "not found" with the status of a page
    LOGIN_WALL = "login_wall"
    CONSENT_WALL = "consent_wall"
    BOT_WALL = "bot_wall"
    ERROR_PAGE = "error_page"
    SCRIPT_SHELL = "script_shell"  # a frame that scripts would fill
    EMPTY = "empty"


class Label(StrEnum):
    """The function of a block for a visitor.

    >>> [str(label) for label in Label if label.is_furniture]
    ['navigation', 'header', 'footer', 'form', 'advert']
    """

    MAIN = "main"
    NAVIGATION = "navigation"
    HEADER = "header"
    FOOTER = "footer"
    FORM = "form"
    LIST = "list"
    TABLE = "table"
    MEDIA = "media"
    ADVERT = "advert"
    RELATED = "related"
    COMMENT = "comment"

    @property
    def is_furniture(self) -> bool:
        """Whether blocks of this label are furniture; all others are content."""
        return self in (Label.NAVIGATION, Label.HEADER, Label.FOOTER, Label.FORM, Label.ADVERT)


class Change(StrEnum):
    """What happened to one block between two versions."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    MODIFIED = "MODIFIED"
    MOVED = "MOVED"
    MARKUP = "MARKUP"  # the same text in other markup; only in a delta
    UNCHANGED = "UNCHANGED"


class Attribute(StrEnum):
    """An attribute of a page, beside its text, that may change."""

    TITLE = "title"
    LINK = "link"  # where it leads
    IMAGE = "image"  # its source
    ALT = "alt"  # the text of an image
    FIELD = "field"  # a value that a selector finds


class ChangeKind(StrEnum):
    """Whether a change concerns content or furniture."""

    CONTENT = "content"
    FURNITURE = "furniture"  # menus, head and foot, adverts, counters, times


class SiteChange(StrEnum):
    """What happened to a page between two times."""

    NEW = "new"
    CHANGED = "changed"  # its content
    TOUCHED = "touched"  # furniture only
    GONE = "gone"
    MOVED = "moved"  # redirects now
    BACK = "back"  # was gone or moved, and is not any more
