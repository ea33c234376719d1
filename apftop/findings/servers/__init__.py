"""Servers that differ from one another, or do not tell all; what is refused that is not APF; doubts."""
