"""Series with time stamps as OpenMetrics text, for `promtool tsdb create-blocks-from openmetrics`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from apftop.errors import Trouble
from apftop.export import own_series
from apftop.export.batches import batches
from apftop.export.openmetrics_text import END
from apftop.export.rows import Row
from apftop.export.series import Points
from apftop.export.server_series import ServerSeries, answers
from apftop.export.source import Asked, Source
from apftop.export.tables import Table
from apftop.export.targets import new_file
from apftop.output import write

LINES = 1000


def to_openmetrics(
    source: Source,
    asked: Asked,
    wanted: Sequence[Table],
    job: str,
    target: Path | None,
    told: list[str],
    *,
    force: bool,
) -> None:
    """The series that servers exposed, or those of the wanted tables; to standard output without a target.

    `told` is given a line for what is left out. Raises Trouble where there are none, or they cannot be written.
    """
    with Points() as points:
        heads = _own(source, asked, wanted, job, points, told) if wanted else _servers(source, asked, job, points, told)
        pieces = _pieces(points, heads)
        first = next(pieces, None)
        if first is None:
            raise Trouble("there are no series with times in this", "", "; ".join(told))
        if target is None:
            write(first)
            for piece in pieces:
                write(piece)
            return
        with new_file(target, force=force) as path, path.open("w", encoding="utf-8", newline="") as file:
            file.write(first)
            file.writelines(pieces)


def _servers(source: Source, asked: Asked, job: str, points: Points, told: list[str]) -> Mapping[str, str]:
    series = ServerSeries(job)
    for sample in answers(source, asked):
        for point in series.points(sample):
            points.add(point)
    told.extend(series.problems)
    return series.heads


def _own(
    source: Source, asked: Asked, wanted: Sequence[Table], job: str, points: Points, told: list[str]
) -> Mapping[str, str]:
    for table, rows in batches(source, asked, wanted, told):
        timed = [row for row in rows if row["time"] is not None]
        for point in own_series.points(table, timed, [_ms(row) for row in timed], job):
            points.add(point)
    return own_series.heads(wanted)


def _ms(row: Row) -> int:
    return round(datetime.fromisoformat(row["time"]).timestamp() * 1000)


def _pieces(points: Points, heads: Mapping[str, str]) -> Iterator[str]:
    """The text in pieces of many lines; nothing where there is no point."""
    family, held = "", [""]
    for point in points.in_order():
        if point.family != family:
            family = point.family
            held.append(heads[family])
        held.append(point.lines)
        if len(held) > LINES:
            yield "".join(held)
            held = [""]
    if family:
        yield "".join((*held, END))
