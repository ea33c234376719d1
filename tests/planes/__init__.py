"""A real control plane on loopback: etcd and several kube-apiservers, built from their public Go modules."""
