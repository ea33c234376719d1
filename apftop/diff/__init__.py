"""Two moments compared: what changed, by how much, and whether that is more than their windows can tell."""
