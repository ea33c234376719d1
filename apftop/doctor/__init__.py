"""Whether this tool can do its work here: what is reachable, allowed and known, what is missing, what polling costs."""
