"""The processes that run the archive of a crawl, and the session that sends them calls."""
