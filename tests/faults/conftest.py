"""The house and the Prefect server of the chain's tests, for faults that need the whole chain."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `tests.flows`, however pytest was started

from tests.flows.conftest import house, on_prefect, prefect_server

__all__ = ["house", "on_prefect", "prefect_server"]
