"""A simulated control plane on loopback: pure servers with a virtual clock, and a thin HTTP shell around them."""
