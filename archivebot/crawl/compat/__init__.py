"""All uses of private parts of Scrapy and Twisted: another release may break them.

Scrapy has no public way to learn whether a crawl is ending, to ask for the next request at once, to read
answers with a different parser, or to learn what was sent over HTTP/2. The module ``http2`` is imported only
by crawls that use it.
"""

from twisted.web._newclient import HEADER, STATUS, ParseError

from archivebot.crawl.compat.engine import forget_spider, is_closing, is_ending, keep_exact, look_again
from archivebot.crawl.compat.http1 import LenientParser, ParsingHandler, content_length

__all__ = [
    "HEADER",
    "STATUS",
    "LenientParser",
    "ParseError",
    "ParsingHandler",
    "content_length",
    "forget_spider",
    "is_closing",
    "is_ending",
    "keep_exact",
    "look_again",
]
