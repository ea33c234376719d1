"""One look at a control plane as text or JSON."""
