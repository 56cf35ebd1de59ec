"""When to visit a page again: how often it changes, and which visits are worth a fetch."""
