"""Near-duplicates: mirrors, print versions, syndicated stories."""
