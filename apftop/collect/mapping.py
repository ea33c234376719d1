"""Who is who in a redacted bundle, for its owner alone."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from apftop.errors import Trouble, reason
from apftop.redacting.pseudonyms import Pseudonyms


def write_mapping(names: Pseudonyms, target: Path) -> None:
    """Write `{KIND: {PSEUDONYM: NAME}}`, which only the user may read (0600).

    Raises Trouble where it cannot be written, or something is there.
    """
    told = {
        kind.value: {pseudonym: _readable(name) for name, pseudonym in sorted(found.items(), key=lambda pair: pair[1])}
        for kind, found in sorted(names.names.items())
    }
    body = msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n"
    try:
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(body)
    except OSError as error:
        raise Trouble(f"the mapping cannot be written ({reason(error)})", str(target), "name another file") from error


def _readable(name: str) -> str:
    """A name with what is no UTF-8 as escapes."""
    return name.encode("utf-8", "backslashreplace").decode()
