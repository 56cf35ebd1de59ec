"""The archive in a browser: replay, Memento, the CDX server and the pages to look back with."""
