"""Spans of time as short text: both ends in one unit, with as many digits as tell them apart."""

from __future__ import annotations

import math
from collections.abc import Iterable

from apftop.records.checks import Prediction
from apftop.sheets.figures import STALE

DIGITS = 2
"""So many digits that matter: what comes out of a model is no more exact."""


def band(low: float, high: float) -> str:
    """A span of seconds: `80-550ms`, `0.2-1.3s`."""
    unit, factor = _unit(high)
    return f"{_number(low * factor)}-{_number(high * factor)}{unit}"


def beside(observed: float, word: str, expected: float) -> str:
    """Two durations in one unit: `0.82 vs 0.81s`."""
    unit, factor = _unit(max(observed, expected))
    return f"{_number(observed * factor)} {word} {_number(expected * factor)}{unit}"


def in_band(prediction: Prediction, *, stale: bool = False) -> str:
    """The mean wait in its band, or not in it: `0.24 in 0.08-0.55s`; never so rounded that it contradicts itself."""
    low, high = allowed(prediction)
    unit, factor = _unit(max(prediction.observed, high))
    numbers: list[str] = []
    for digits in (DIGITS, DIGITS + 1, DIGITS + 2):
        numbers = [_number(value * factor, digits) for value in (prediction.observed, low, high)]
        if _inside(map(float, numbers)) == prediction.inside:
            break
    word = "in" if prediction.inside else "not in"
    return f"{numbers[0]} {word} {numbers[1]}-{numbers[2]}{unit}{STALE if stale else ''}"


def allowed(prediction: Prediction) -> tuple[float, float]:
    """The band with its allowance; nobody waits for less than no time."""
    return max(0.0, prediction.low), max(0.0, prediction.high)


def _inside(numbers: Iterable[float]) -> bool:
    observed, low, high = numbers
    return low <= observed <= high


def _unit(largest: float) -> tuple[str, float]:
    return ("ms", 1e3) if largest < 1 else ("s", 1.0)


def _number(value: float, digits: int = DIGITS) -> str:
    """Without an exponent, and without zeros at the end of its decimals."""
    if not value:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text
