"""Records with a bound on the size of files, as a full disk has one: `python -m tests.tape.full BYTES COMMAND ...`.

Without a command it records samples to the file `tape` here and prints what failed, and how many the ring has.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def main() -> None:
    size, *command = sys.argv[1:]
    # Compiled modules that are cut short by the bound would break every later run.
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
    if command:
        from apftop.cli import main as run

        sys.argv = ["apftop", *command]
        run()
        return
    from apftop.recording import Recording
    from apftop.tape.file import TapeFile
    from apftop.tape.reading import Tape
    from tests.tape.taping import read, samples
    from tests.tape.test_recording import recorded

    recording = Recording("a test", lambda line: None, TapeFile(Path("tape")))
    recording.start()
    recorded(recording, samples())
    recording.close()
    recording.finish(60.0)
    print(recording.failure)
    print(len(read(Tape([recording.ring()], "ring"))))


if __name__ == "__main__":
    main()
