"""Scrapy middlewares: scope, robots.txt, content codings, and the orders of a crawl."""
