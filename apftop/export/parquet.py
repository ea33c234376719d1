"""Rows as Parquet, through pyarrow: the one library that is not always there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apftop import __version__
from apftop.errors import Trouble
from apftop.export.data_frames import data_frame
from apftop.export.rows import Row
from apftop.export.tables import Table, Type

if TYPE_CHECKING:
    import pyarrow as pa


def check_parquet() -> None:
    """Raise Trouble where pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise Trouble("Parquet needs pyarrow", "", "pip install 'apftop[parquet]'") from error


class ParquetFile:
    """One table as a file, a row group for each batch; zstd. Close it after use."""

    def __init__(self, path: Path, table: Table) -> None:
        import pyarrow.parquet as pq

        self._table, self._schema = table, schema_of(table)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")

    def write(self, rows: Sequence[Row]) -> None:
        """Add rows."""
        import pyarrow as pa

        if rows:
            frame = data_frame(self._table, rows, _text)
            self._writer.write_table(pa.Table.from_pandas(frame, schema=self._schema, preserve_index=False))

    def close(self) -> None:
        """End the file; without rows it has the columns all the same."""
        self._writer.close()


def schema_of(table: Table) -> pa.Schema:
    """The columns with their types; units and meanings are in the metadata of each."""
    import pyarrow as pa

    kinds: dict[Type, Any] = {
        "time": pa.timestamp("ms", tz="UTC"),
        "text": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "json": pa.string(),
    }
    fields = [
        pa.field(column.name, kinds[column.type], metadata={"unit": column.unit, "meaning": column.about})
        for column in table.columns
    ]
    return pa.schema(
        fields, metadata={"table": table.name, "meaning": f"a row is {table.about}", "apftop": __version__}
    )


def _text(text: str) -> str:
    """Text as UTF-8 can hold it: a lone surrogate of JSON has no place there."""
    return text.encode("utf-8", "backslashreplace").decode()
