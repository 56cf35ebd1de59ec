"""The program ``archivebot``: Scrapy's commands in any folder, help by task, completion of a shell."""
