"""The requests in question that lie in a saved bundle."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from apftop.bundle_files import is_archive, read_files
from apftop.classifying.requests_file import read_requests
from apftop.records.classified import Asked
from apftop.records.parsed import ParseError

REQUESTS = PurePosixPath("requests.json")


def saved_requests(path: Path) -> tuple[Asked, ...] | None:
    """The requests of `requests.json` (also `.gz`) in a folder or an archive; None where there is none.

    Raises ParseError that names the file where it cannot be read, and Trouble for a torn archive.
    """
    if not path.is_dir() and not is_archive(path):
        return None
    files = read_files(path, _whole, lambda name: name == REQUESTS)
    if fault := files.faults.get(REQUESTS):
        raise ParseError(fault)
    if REQUESTS not in files.bodies:
        return None
    try:
        return read_requests(files.bodies[REQUESTS])
    except ParseError as error:
        raise ParseError(f"{REQUESTS}: {error}") from None


def _whole(chunks: Iterable[bytes], content_type: str, _: str) -> tuple[bytes, str]:
    return b"".join(chunks), content_type
