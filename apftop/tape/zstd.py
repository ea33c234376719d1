"""The compression of tapes, from the standard library where it has it."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError
else:
    from backports.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError

__all__ = ["ZstdCompressor", "ZstdDecompressor", "ZstdError", "compressor"]

LEVEL = 6
WINDOW_LOG = 23
"""Eight megabytes: what several servers said last is near enough to be told by what has changed."""


def compressor() -> ZstdCompressor:
    """What compresses one segment."""
    return ZstdCompressor(
        options={CompressionParameter.compression_level: LEVEL, CompressionParameter.window_log: WINDOW_LOG}
    )
