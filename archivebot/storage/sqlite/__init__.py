"""The archive in one SQLite file: its schema, its rows, and the store over them."""
