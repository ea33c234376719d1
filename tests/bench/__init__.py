"""Measured speed, each figure beside its reference: `python -m tests.bench`."""
