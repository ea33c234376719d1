"""Requests that wait long, time out, or are refused."""
