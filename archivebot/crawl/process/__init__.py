"""The session that sends the calls of a crawl to the processes of its archive."""
