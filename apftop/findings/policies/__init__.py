"""Schemas and levels that do other than was meant, and who changed them."""
