"""Writes what other tools read: WARC, CDXJ, WACZ, and a page that opens without a server."""
