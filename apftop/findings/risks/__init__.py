"""What a cluster dies of when it is delayed."""
