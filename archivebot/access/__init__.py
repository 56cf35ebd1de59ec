"""Sites with a door: how a crawl gets in, from a file of secrets."""
