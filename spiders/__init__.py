"""The spiders that `scrapy crawl` finds by name."""
