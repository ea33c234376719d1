"""Pairs of views to a Frame: deltas, rates, corrected waits, ages and flows. Pure arithmetic, no clock."""
