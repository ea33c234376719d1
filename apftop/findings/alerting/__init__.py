"""The conditions of the alerts of the query library, now."""
