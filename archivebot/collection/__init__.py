"""Collections: what a crawl collects, and the metadata of its pages."""
