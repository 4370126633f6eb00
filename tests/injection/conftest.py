"""The house that hostile texts are written into."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `tests.flows`, however pytest was started

from tests.flows.conftest import house

__all__ = ["house"]
