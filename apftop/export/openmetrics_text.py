"""Lines of OpenMetrics 1.0: heads, labels, numbers and times as it wants them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal

_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})
UNITS = ("seconds", "bytes", "seats", "requests", "ratio", "flows", "queues", "servers")
END = "# EOF\n"


def head(family: str, kind: str, about: str) -> str:
    """What is said of a family before its lines; its unit where its name ends in one."""
    unit = next((unit for unit in UNITS if family.endswith(f"_{unit}")), "")
    lines = [f"# TYPE {family} {kind}\n"]
    if unit:
        lines.append(f"# UNIT {family} {unit}\n")
    if about:
        lines.append(f"# HELP {family} {about.translate(_ESCAPES)}\n")
    return "".join(lines)


def labels_text(labels: Mapping[str, str]) -> str:
    """Labels without their braces, sorted by name."""
    return ",".join(f'{name}="{labels[name].translate(_ESCAPES)}"' for name in sorted(labels))


def number_text(value: float) -> str:
    """A value: whole ones exactly, others so that they read back as they were."""
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def bound_text(bound: float) -> str:
    """An `le` as a canonical float: as Go prints it, with a fraction or an exponent."""
    if math.isinf(bound):
        return "+Inf"
    sign, digits, tail = Decimal(repr(bound)).normalize().as_tuple()
    exponent = len(digits) + int(tail) - 1
    if not bound or -4 <= exponent < 6:
        return repr(float(bound))
    first, *rest = map(str, digits)
    return f"{'-' * sign}{'.'.join(filter(None, (first, ''.join(rest))))}e{exponent:+03d}"


def time_text(at_ms: int) -> str:
    """A time in Unix seconds, to the millisecond."""
    return f"{at_ms // 1000}.{at_ms % 1000:03d}"
