"""The archive in a MongoDB database: its documents, and the store over them."""
