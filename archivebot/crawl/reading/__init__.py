"""Turns answers into pages and links, and reads what robots may do with them."""
