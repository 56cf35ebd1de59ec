"""All uses of private parts of Scrapy and Twisted: another release may break them.

Scrapy has no public way to learn whether a crawl is ending, to ask for the next request at once, to read
answers with another parser, or to learn what was sent over HTTP/2. ``http1`` and ``http2`` import Scrapy's
download handlers, which takes 0.3 seconds; a command that fetches nothing imports neither.
"""
