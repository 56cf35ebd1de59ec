"""The processes in which the archive of a crawl works, and the session that tells them what to do."""
