"""Logs of clients and servers, read as streams: files may have gigabytes."""
