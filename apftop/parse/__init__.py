"""Bytes that servers sent to records: pure, one reader for each format."""
