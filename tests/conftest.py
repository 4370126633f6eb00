"""Where the public reference data lie, and one rule: where they lie, no test that needs them may skip."""

import atexit
import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run: a change is judged by what it changed. HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("steady", derandomize=True)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# As the command line does: DuckDB's binding lists a hundred objects of its own while the interpreter goes down, behind
# the line that says how many tests passed.
atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))

REFERENCE_DATA = Path(os.environ.get("SLUICE_REFERENCE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of public data sets; the test is skipped, with a word, where it is absent."""
    if not REFERENCE_DATA.is_dir():
        pytest.skip(f"the reference data are not at {REFERENCE_DATA}; set SLUICE_REFERENCE_DATA")
    return REFERENCE_DATA
