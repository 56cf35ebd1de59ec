"""Scrapy's settings for archivebot; `scrapy crawl -s NAME=VALUE` overrides each of them."""

import os

from archivebot import __version__

BOT_NAME = "archivebot"
SPIDER_MODULES = ["spiders"]
COMMANDS_MODULE = "archivebot.commands"
ADDONS = {
    "archivebot.cli.checks.CheckedSettings": 0,  # of Scrapy's own commands
    "archivebot.crawl.plain.PlainSpiders": 1,  # scrapy shell, fetch and view need no archive
}

# --- the archive ---------------------------------------------------------------------------------
ARCHIVE_URI = "sqlite:///archive.db"
ARCHIVE_LEVEL = 3  # how deep a page without history is cut into blocks, 1 to 9
ARCHIVE_ADJUST_LEVEL = True  # the history of a page may change its level
ARCHIVE_FRAME_BOUND = 16_000_000  # bytes that reading a version may decode
ARCHIVE_ZSTD_LEVEL = 10
ARCHIVE_CONTENT_ATTRIBUTES = "title alt"  # what is content beside the text of a page
ARCHIVE_FIELDS = ""  # a file of selectors: see docs/fields.md
ARCHIVE_COLLECTIONS = ""  # a file: see docs/collections.md
ARCHIVE_COLLECTION = ""  # the collection of the pages that are stored; -a collection=NAME sets it
ARCHIVE_READERS = min(4, os.cpu_count() or 1)  # processes that read pages
# The master of a cluster of Apache Spark that reads whole archives; empty: the cores of this machine.
ARCHIVE_SPARK = ""
ARCHIVE_CONDITIONAL = True  # send the validators of the latest capture; a 304 costs no body
ARCHIVE_OBEY_META_ROBOTS = True  # pages with noindex or noarchive are not kept, nofollow links not followed

# --- identity -------------------------------------------------------------------------------------
# Where the operator of a site learns about the crawl and can complain, a URL or a mail address:
# it becomes part of the User-Agent.
ARCHIVE_CONTACT = ""
# A file with what opens the realms of sites: see docs/access.md.
ARCHIVE_SECRETS = ""
USER_AGENT = f"archivebot/{__version__}"
ROBOTSTXT_USER_AGENT = "archivebot"  # the product token that robots.txt and META robots name

# --- politeness ----------------------------------------------------------------------------------
ROBOTSTXT_OBEY = True
ARCHIVE_ROBOTS_EXPIRY = 24 * 3600  # RFC 9309: not longer than a day
ARCHIVE_ROBOTS_PATIENCE = 600  # an unreachable robots.txt is requested again after ten minutes
ARCHIVE_CRAWL_DELAY_MAX = 60  # a longer Crawl-delay is read as this many seconds

# Seconds between two requests to one host, give or take half of it. Hosts on this machine (localhost,
# 127.0.0.0/8, ::1) get no delay: see archivebot.crawl.scheduling.pace. A Crawl-delay applies to every host.
DOWNLOAD_DELAY = 0.5
CONCURRENT_REQUESTS = 32  # many hosts at once ...
CONCURRENT_REQUESTS_PER_DOMAIN = 2  # ... but few requests to each
ARCHIVE_LOCAL_CONCURRENCY = 8  # on this machine: Scrapy's default for any host

# --- fetching ------------------------------------------------------------------------------------
DOWNLOADER = "archivebot.crawl.downloader.Downloader"  # cancels the requests under way when a crawl ends
DOWNLOAD_TIMEOUT = 30  # 180 by default, which lets a dead host hold a slot for three minutes
DOWNLOAD_MAXSIZE = 64 * 1024 * 1024  # 1 GiB by default; also bounds what a body unpacks to
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_FAIL_ON_DATALOSS = False  # a short body is returned with a flag: its status is recorded
# Headers and lengths that break the rules do not lose an answer; a page must not name a file.
DOWNLOAD_HANDLERS = {
    **dict.fromkeys(("http", "https"), "archivebot.crawl.answers.AnswerHandler"),
    **dict.fromkeys(("data", "file", "ftp", "s3")),
}
ARCHIVE_HTTP2 = False  # speak HTTP/2 with https sites that do; needs Scrapy[twisted-http2]
COOKIES_ENABLED = False
# Whether links, redirects and host names may lead to this machine or to private networks not among the seeds.
ARCHIVE_PRIVATE_ADDRESSES = False
REACTOR_THREADPOOL_MAXSIZE = 20  # DNS lookups run here; 10 slow ones would block all others

# Retries after timeouts, lost connections, short bodies, 202, 408, 429 and 5xx.
RETRY_TIMES = 2
ARCHIVE_RETRY_BASE = 2.0  # seconds before the first retry, doubled for each further one
ARCHIVE_RETRY_CEILING = 60.0
ARCHIVE_RETRY_AFTER_MAX = 120.0  # the longest Retry-After that is obeyed

# --- order: the frontier -------------------------------------------------------------------------
# An interrupted crawl continues when the same command is run again: see docs/frontier.md.
# With REDIS_URL several processes share it: see archivebot.crawl.scheduling.redis.
SCHEDULER = "archivebot.crawl.scheduler.FrontierScheduler"
ARCHIVE_FRONTIER = ""  # a sqlite:/// URI; empty: a file beside the archive
REDIS_URL = os.environ.get("REDIS_URL", "")
ARCHIVE_LEASE_SECONDS = 60.0  # a worker that is silent for longer loses its leases
ARCHIVE_FRONTIER_PATIENCE = 120.0  # a frontier that is unreachable for longer ends the crawl
# Maximum of URLs that differ only in numbers, ids or query values, and maximum of URLs of one host if the
# scope is the whole web; 0: no maximum. See docs/crawling.md for the numbers of real sites.
ARCHIVE_BUDGET_PATH = 10_000
ARCHIVE_BUDGET_QUERY = 1_000
ARCHIVE_BUDGET_HOST = 10_000
# Maximum of page requisites, and of their bytes, of a crawl and of a page: see archivebot.config.
ARCHIVE_REQUISITES_CRAWL = 100_000
ARCHIVE_REQUISITES_PAGE = 1_000
ARCHIVE_REQUISITES_CRAWL_BYTES = 10_000_000_000
ARCHIVE_REQUISITES_PAGE_BYTES = 50_000_000
DEPTH_LIMIT = 0  # no limit; `-a depth=N` overrides it

# --- the topic of a focused crawl ----------------------------------------------------------------
ARCHIVE_TOPICS = "topics"  # the folder of the profiles
ARCHIVE_TUNNEL_DEPTH = 2  # off-topic pages in a row that hard focus passes; `-a tunnel=N` overrides it
ARCHIVE_LINK_THRESHOLD = 0.02  # hard focus drops links less likely to lead to the topic
ARCHIVE_KEEP_OFF_TOPIC = False  # keep the bodies of off-topic pages in hard focus too
ARCHIVE_PRIORITY_WEIGHTS: dict[str, float] = {}  # of the parts of `order=linear` whose weight is not 1
ARCHIVE_RANK_EVERY = 500  # pages between two computations of PageRank or IPageRank during a crawl

# --- the search for query forms ------------------------------------------------------------------
# The crawl leaves a site after more than this many distinct query forms, or this many fetched pages (Barbosa,
# Freire, "Searching for Hidden-Web Databases", 2005).
ARCHIVE_SITE_FORMS = 5
ARCHIVE_SITE_PAGES = 100

# --- alerts --------------------------------------------------------------------------------------
ARCHIVE_WATCH = ""  # a rules file, watched at the end of a crawl
ARCHIVE_WATCH_SERVER = "http://127.0.0.1:8080"  # of `scrapy serve`: alerts link to its deltas

# --- near-duplicates -----------------------------------------------------------------------------
# Subtracted from the score of links found only on a near-duplicate: two levels of `site`, a seventh of the
# odds of `topic`; 0 subtracts nothing.
ARCHIVE_DUPLICATE_PENALTY = 2.0

# --- work per page -------------------------------------------------------------------------------
# Scrapy starts this many tasks for each response, however few items there are. 100, the default, costs
# a third of the crawl's CPU. Here a response has one item, its last output.
CONCURRENT_ITEMS = 1
# Maximum bytes of responses whose page is not stored yet; above it fetching waits for the archive.
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 16 * 1024 * 1024

# Scrapy's own components that a crawl uses. These lists replace Scrapy's longer lists: Scrapy imports every
# component of a list, even if it is switched off, which takes 0.35 s at the start of a crawl. Left out are
#
# - RemoteControl and TelnetConsole, which listen on a port; LogStats, because ProgressLog reports more
# - HttpCompression, which accepts half a body; Offsite, because the guard knows the scope
# - MetaRefresh and Redirect, because redirects are captures; Retry, see archivebot.crawl.retry
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}  # the spider takes every status and counts depth itself
DOWNLOADER_MIDDLEWARES_BASE = {
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
    "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
    "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
    "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": 750,
    "scrapy.downloadermiddlewares.stats.DownloaderStats": 850,
    "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware": 900,
}
EXTENSIONS_BASE = {
    "scrapy.extensions.corestats.CoreStats": 0,
    "scrapy.extensions.logcount.LogCount": 0,
    "scrapy.extensions.memusage.MemoryUsage": 0,
    "scrapy.extensions.memdebug.MemoryDebugger": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "scrapy.extensions.feedexport.FeedExporter": 0,
    "scrapy.extensions.spiderstate.SpiderState": 0,
    "scrapy.extensions.throttle.AutoThrottle": 0,
}

SPIDER_MIDDLEWARES = {
    "archivebot.crawl.middlewares.guard.GuardSpiderMiddleware": 560,
    "archivebot.crawl.middlewares.topicfilter.TopicFilterMiddleware": 550,  # for spiders that have a topic
    "archivebot.crawl.middlewares.doors.DoorMiddleware": 551,  # for the spider that searches for forms
    "archivebot.crawl.middlewares.limits.LimitsSpiderMiddleware": 555,  # if there are limits
}
DOWNLOADER_MIDDLEWARES = {
    "archivebot.crawl.middlewares.guard.GuardDownloaderMiddleware": 50,
    "archivebot.crawl.middlewares.sitebudget.SiteBudgetMiddleware": 60,
    "archivebot.crawl.middlewares.robots.RobotsMiddleware": 100,
    "archivebot.crawl.middlewares.requisites.RequisitesMiddleware": 110,  # if they are requested
    "archivebot.crawl.middlewares.conditional.ConditionalMiddleware": 120,
    "archivebot.crawl.middlewares.limits.LimitsDownloaderMiddleware": 130,
    "archivebot.crawl.middlewares.access.AccessMiddleware": 598,  # if ARCHIVE_SECRETS names a file
    "archivebot.crawl.middlewares.decoding.DecodingMiddleware": 590,
    "archivebot.crawl.middlewares.rawwarc.RawWarcMiddleware": 595,  # if ARCHIVE_WARC names a folder
}
ITEM_PIPELINES = {
    "pipelines.frontier.FrontierPipeline": 100,
    "pipelines.segmentation.SegmentationPipeline": 300,
    "pipelines.nearduplicates.NearDuplicatePipeline": 400,
    "pipelines.forms.FormPipeline": 450,
    "pipelines.storage.StoragePipeline": 500,
}
EXTENSIONS = {
    "archivebot.crawl.process.session.ArchiveSession": 10,
    "archivebot.crawl.extensions.addresses.PublicAddresses": 15,
    "archivebot.crawl.scheduling.pace.HostPace": 20,
    "archivebot.crawl.scheduling.dispatcher.Dispatcher": 25,
    "archivebot.crawl.extensions.ending.Ending": 26,
    "archivebot.crawl.extensions.sitebudget.SiteBudget": 27,
    "archivebot.crawl.extensions.progress.ProgressLog": 30,
}
ARCHIVE_PROGRESS_INTERVAL = 10.0  # seconds between progress lines if stderr is not a terminal
ARCHIVE_WARC = ""  # a folder for the answers of a crawl as WARC files, as they came; empty: none
ARCHIVE_SEARCH_INDEX = ""  # of scrapy search, a sqlite:/// URI; empty: a file beside the archive
ARCHIVE_SEARCH_UPDATE = False  # bring the index up to date at the end of each crawl and ingest
ARCHIVE_SCRAPYD = ""  # the URL of the scrapyd that runs crawls started over the API
ARCHIVE_API_RATE = 20.0  # requests a second of one client of the API of scrapy serve

# --- output --------------------------------------------------------------------------------------
FEED_EXPORTERS = {
    "json": "archivebot.crawl.feed.CaptureJsonExporter",
    "jsonl": "archivebot.crawl.feed.CaptureJsonLinesExporter",
    "jsonlines": "archivebot.crawl.feed.CaptureJsonLinesExporter",
    "jl": "archivebot.crawl.feed.CaptureJsonLinesExporter",
    "csv": "archivebot.crawl.feed.CaptureCsvExporter",
}
FEED_EXPORT_ENCODING = "utf-8"
LOG_LEVEL = "INFO"
LOG_FORMATTER = "archivebot.crawl.logformatter.LogFormatter"  # no work for messages that are not shown
LOG_VERSIONS: list[str] = []  # `scrapy version -v` prints them

# Variables of the environment replace the values of the settings of archivebot.
globals().update({n: os.environ[n] for n in globals() if n.startswith("ARCHIVE_") and os.environ.get(n)})
