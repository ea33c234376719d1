"""Pieces of text that findings share."""
