"""The parts of a crawl that use Scrapy's objects, apart from spiders and pipelines."""
