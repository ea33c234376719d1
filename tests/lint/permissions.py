"""Tests of what may not be read, also where they run as the superuser, who otherwise may read all."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

VERSION_3 = 0x20080522
OVERRIDES = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""


class _Head(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Set(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextmanager
def permissions_that_count() -> Iterator[None]:
    """During the block this thread may read only what permissions allow."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head, sets = _Head(VERSION_3, 0), (_Set * 2)()
    assert libc.capget(ctypes.byref(head), sets) == 0
    before = sets[0].effective
    sets[0].effective &= ~OVERRIDES
    assert libc.capset(ctypes.byref(head), sets) == 0
    try:
        yield
    finally:
        sets[0].effective = before
        assert libc.capset(ctypes.byref(head), sets) == 0
