"""The processes that run an archive: one may store pages, others read them."""
