"""What the arguments of spiders mean, in a line of help each."""

from __future__ import annotations

MEANINGS: dict[str, str] = {
    "seeds": "the start URLs, separated by commas, or @FILE with one URL per line",
    "scope": "which links are followed: host, domain, prefix (the folder of the seed), page or web",
    "depth": "maximum number of links from a seed",
    "pages": "maximum number of pages, in all runs of the crawl",
    "bytes": "maximum size of one run, such as 500MB",
    "time": "maximum time of one run, such as 90s, 30m or 2h",
    "level": "how deep pages are cut into blocks, from 1 (coarse) to 9",
    "types": "store only bodies of these kinds or MIME types: page,document or image/*",
    "size": "maximum bytes of a body, such as 2MB",
    "since": "store no page that is older: 2024-05-31 or 2024",
    "until": "store no page that is newer: 2024-05-31 or 2024",
    "fields": "@FILE with selectors of fields, such as a price or an author",
    "requisites": "yes also archives the images, styles, scripts and fonts of pages",
    "collection": "the collection of the pages, out of the file of ARCHIVE_COLLECTIONS",
    "topic": "words, a query such as '(harbour OR port) AND NOT airport', or the name of a topic",
    "focus": "soft fetches the best links first, hard also drops unpromising links",
    "tunnel": "maximum number of off-topic pages in a row on the way to a page on topic",
    "threshold": "hard focus drops a link if its chance to lead to the topic is below this, 0 to 1",
    "order": "the order of the fetches: best, linear, bfs, pagerank or ipagerank",
    "near": "similarity from which a word counts as a word of the topic in order=ipagerank, 0 to 1",
    "rings": "words that mean nearly the same as words of the topic: ferry=boat=raft:0.5",
    "links": "rank follows the links that promise a form first, strict follows only these",
    "form": "the id of a form in archivebot forms, or its beginning",
    "values": "@FILE, a CSV file: its first row names fields, each further row is a query",
    "dry": "yes prints the queries and sends none",
    "budget": "visits of all pages together, such as 500/day, 20/hour or 100/week",
    "discover": "yes also visits the new pages of the sites, which sitemaps, feeds and pages name",
    "policy": "how visits are divided: changes, freshness, proportional, adaptive or fixed",
}
