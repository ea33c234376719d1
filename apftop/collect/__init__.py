"""Saving what servers said as a bundle, for somebody else or for later."""
