"""Deliberate faults: each one-line mutant of the model must fail the tests; run by `python -m tests.apf.mutants`.

Every entry of `mutants.toml` replaces a text that stands once in a file. The tests of the model run on a copy of the
package with that one change. It ends with 1 if more than 5% live on that are not marked as equivalent.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = Path("apftop/apf")
SHARE_NOTICED = 0.95
# The cheapest first: most mutants fall at the first vector.
ORDER = ("dealer_vectors", "width_vectors", "allocation_vectors", "classify_vectors", "queueset_vectors")


@dataclass(frozen=True)
class Mutant:
    """One change; `equivalent` says why it cannot be noticed."""

    file: str
    old: str
    new: str
    equivalent: str = ""

    def apply(self, root: Path) -> None:
        path = root / PACKAGE / self.file
        text = path.read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file}: {self.old!r} stands {text.count(self.old)} times")
        path.write_text(text.replace(self.old, self.new))


def mutants() -> list[Mutant]:
    with Path(__file__).with_name("mutants.toml").open("rb") as file:
        return [Mutant(**entry) for entry in tomllib.load(file)["mutants"]]


def lives(mutant: Mutant | None) -> bool:
    """Whether the tests pass with a mutant in place, or without any."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(ROOT / "apftop", root / "apftop", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", root)
        (root / "tests").symlink_to(ROOT / "tests")
        if mutant is not None:
            mutant.apply(root)
        first = [f"tests/apf/test_{name}.py" for name in ORDER]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *first, "tests/apf"]
        run = subprocess.run(
            command, cwd=root, env=os.environ | {"PYTHONPATH": folder}, stdout=subprocess.DEVNULL, check=False
        )
        return run.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.apf.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="only mutants with this text in their file or new text")
    options = parser.parse_args()
    chosen = [one for one in mutants() if options.only in f"{one.file}: {one.new}"]
    if not lives(None):
        print("the tests fail without any mutant")
        return 1
    alive: list[Mutant] = []
    for number, mutant in enumerate(chosen, 1):
        living = lives(mutant)
        if living:
            alive.append(mutant)
        print(
            f"{number:>3} of {len(chosen)}  {'ALIVE  ' if living else 'noticed'}  {mutant.file}: {mutant.new}",
            flush=True,
        )
    unexplained = [one for one in alive if not one.equivalent]
    print(f"{len(chosen) - len(alive)} of {len(chosen)} noticed, {len(alive) - len(unexplained)} equivalent")
    for mutant in alive:
        print(f"alive: {mutant.file}: {mutant.old!r} -> {mutant.new!r}: {mutant.equivalent or 'NOT EXPLAINED'}")
    counted = len(chosen) - (len(alive) - len(unexplained))
    return int(len(unexplained) > (1 - SHARE_NOTICED) * counted)


if __name__ == "__main__":
    sys.exit(main())
