"""apftop: top for the request queues of Kubernetes API servers."""

__version__ = "0.1.0"
