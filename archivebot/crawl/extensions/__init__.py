"""Scrapy extensions: private addresses, budgets of sites, progress, the end of a crawl."""
