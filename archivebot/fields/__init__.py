"""Fields: the named values that selectors find on the pages of a site."""
