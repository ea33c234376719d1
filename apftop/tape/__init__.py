"""Tapes: what servers said, kept in the order in which it came, to be looked at again."""
