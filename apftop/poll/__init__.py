"""The network: servers are asked, each at its own pace, and what they say is handed on as Samples."""
