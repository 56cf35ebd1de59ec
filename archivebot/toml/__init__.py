"""The TOML files that a user writes: their tables, and the patterns of URLs in them."""
