"""Texts that are the same but for small differences: mirrors, print versions, syndicated stories."""
