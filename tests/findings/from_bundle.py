"""Scenes of saved answers."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from apftop.bundle import read_bundle
from apftop.derive.frame import frame
from apftop.findings.scene import Scene
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted_at_once
from apftop.report.known import taken_in

CASES = Path(__file__).parent.parent / "cases"


def scene_of(case: Path, folder: str = "") -> Scene:
    """The scene of a case, or of one of its folders with the files that hold for all of them; without its checks."""
    with tempfile.TemporaryDirectory() as merged:
        for one in (case, case / folder) if folder else ():
            for file in one.iterdir():
                if file.is_file():
                    shutil.copy(file, merged)
        families = wanted_at_once()
        path = Path(merged) if folder else case
        bundle = read_bundle(path, lambda chunks, kind, encoding: pick(chunks, kind, encoding, families))
        return Scene(frame(taken_in(bundle.samples).state), now=bundle.times.t1)
