"""Where the public reference data lie, for tests and benchmarks alike: the folder that SLUICE_REFERENCE_DATA names, or
`shared/data` beside the project. Where they lie, no test that needs them may skip."""

from pathlib import Path

import pytest

from deployments.data import REFERENCE_DATA, ROOT
from schemas.contract import load_contract


def reference_path(*parts: str) -> Path:
    """A file or folder of the reference data; the test is skipped, with a word, where there are none at all."""
    if not REFERENCE_DATA.is_dir():
        pytest.skip(f"the reference data are not at {REFERENCE_DATA}; set SLUICE_REFERENCE_DATA")
    path = REFERENCE_DATA.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing from the reference data")
    return path


def case_path(*parts: str) -> Path:
    """A file or folder of the small inputs that once went wrong, which lie beside the reference data; the test is
    skipped, with a word, where there are none at all."""
    cases = REFERENCE_DATA.parent / "cases"
    if not cases.is_dir():
        pytest.skip(f"the cases are not at {cases}, beside the reference data")
    path = cases.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing from the cases")
    return path


def adult_columns() -> list[str]:
    """The columns of Adult, whose files have no header, in the order of its contract."""
    return list(load_contract(ROOT / "schemas" / "adult.yaml").by_name)
