"""The realms of sites, which need a log-in: how a crawl gets in, from a file of secrets."""
