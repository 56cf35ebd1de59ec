"""From an answer to what it says: pages, links, and what robots may do with them."""
