"""Levels that are full, what makes them full, and what would relieve them."""
