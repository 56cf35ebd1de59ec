"""What goes on beside the pages of a crawl: addresses, budgets of sites, progress, the end."""
