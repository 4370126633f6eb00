"""The same masked file is evaluated by the same policy once in all processes of the test session.

It takes two fifths of what a whole release costs, and most test houses mask the records of another by the same seed. A
test that changes a measure, by `monkeypatch` or in a folder named below, has everything measured.
"""

import hashlib
import os
import pickle
from dataclasses import fields
from pathlib import Path

import pytest

from policies.policy import Policy
from sluice.ground.variables import Variables
from sluice.utility.comparison import Comparison
from tasks.release.records.record_findings import Evaluation, evaluate_file

_MOST = 300  # that are remembered, of some 50 kB each
_MEASURED = (
    "tests/faults/",
    "tests/tasks/test_evaluate.py",
    "tests/tasks/release/records/",
    "tests/flows/test_reassess",
)

_known: dict[str, Evaluation] = {}


def is_measured(item: pytest.Item) -> bool:
    """Whether a test may change what is measured, or is about it."""
    return "monkeypatch" in getattr(item, "fixturenames", ()) or item.nodeid.startswith(_MEASURED)


def evaluated_once(
    policy: Policy, files: Comparison, declared: Variables, described: Variables, folder: Path | None = None
) -> Evaluation:
    """As `evaluate_file`, in whose place it stands. The processes that share a folder find there what others found."""
    key = _key(policy, files, declared, described)
    if key in _known:
        return _known[key]
    noted = folder / key if folder is not None and key is not None else None
    if noted is not None and noted.exists():
        found: Evaluation = pickle.loads(noted.read_bytes())
    else:
        found = evaluate_file(policy, files, declared, described)
        if noted is not None:
            noted.parent.mkdir(exist_ok=True)
            begun = noted.with_suffix(f".{os.getpid()}")
            begun.write_bytes(pickle.dumps(found))
            begun.replace(noted)
    if key is not None and len(_known) < _MOST:
        _known[key] = found
    return found


def _key(policy: Policy, files: Comparison, *variables: Variables) -> str | None:
    """Of all that is evaluated, the draws among it; None where something cannot be written down."""
    of_files = {field.name: getattr(files, field.name) for field in fields(files)}
    try:
        written = pickle.dumps((policy.model_dump_json(), of_files, files.rng.bit_generator.seed_seq, variables))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    return hashlib.sha256(written).hexdigest()
