"""Thresholds, windows and assumptions, read from `rules.toml`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec


class Wait(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long a request may wait in a queue. Seconds."""

    default_request_timeout_s: float
    limit_fraction: float
    limit_cap_s: float
    limit_cap_holds: tuple[str, ...]
    least_time_out_s: float


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a level counts as saturated."""

    saturated_share_of_time: float


class Clock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far clocks are believed. Seconds."""

    date_tolerance_s: float
    age_cap_s: float
    age_slack_s: float


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When two answers are of one server, and whose clock gives the time between them. Shares and seconds."""

    clock_agreement: float
    clock_agreement_s: float
    start_jitter_s: float
    tear_s: float


class Flows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many flows are compared for shared queues."""

    compared: int


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of `rules.toml`."""

    wait: Wait
    state: State
    clock: Clock
    window: Window
    flows: Flows


@cache
def rules() -> Rules:
    """The one set of rules; it ships with the package."""
    return msgspec.toml.decode(files("apftop").joinpath("rules.toml").read_bytes(), type=Rules)
