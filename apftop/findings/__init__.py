"""Findings: causes with evidence, severity and one change, each a function of what is known at one moment."""
