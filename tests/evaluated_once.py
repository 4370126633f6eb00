"""The same masked file is evaluated by the same policy once in the tests' process.

It takes two fifths of what a whole release costs, and most test houses mask the records of another by the same seed. A
test that changes a measure, by `monkeypatch` or in a folder named below, has everything measured.
"""

import hashlib
import pickle
from dataclasses import fields

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


def evaluated_once(policy: Policy, files: Comparison, declared: Variables, described: Variables) -> Evaluation:
    """As `evaluate_file`, in whose place it stands."""
    key = _key(policy, files, declared, described)
    if key is None:
        return evaluate_file(policy, files, declared, described)
    if key not in _known:
        found = evaluate_file(policy, files, declared, described)
        if len(_known) >= _MOST:
            return found
        _known[key] = found
    return _known[key]


def _key(policy: Policy, files: Comparison, *variables: Variables) -> str | None:
    """Of all that is evaluated, the draws among it; None where something cannot be written down."""
    of_files = {field.name: getattr(files, field.name) for field in fields(files)}
    try:
        written = pickle.dumps((policy.model_dump_json(), of_files, files.rng.bit_generator.seed_seq, variables))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    return hashlib.sha256(written).hexdigest()
