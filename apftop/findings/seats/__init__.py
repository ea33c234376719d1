"""Levels without seats, at their limits, with seats that do not come back, and levels that are gone."""
