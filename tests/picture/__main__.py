"""Draw the picture anew: `python -m tests.picture`."""

from __future__ import annotations

from tests.picture.drawing import PICTURE, draw

PICTURE.write_text(draw(), encoding="utf-8")
