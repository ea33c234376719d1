"""What a Prometheus, or a store that answers like one, has kept of API servers: its raw samples as answers of them."""
