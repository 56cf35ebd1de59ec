"""Everything that needs Scrapy's objects and is neither a spider nor a pipeline."""
