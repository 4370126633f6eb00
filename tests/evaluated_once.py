"""The same masked file is evaluated by the same policy once in all processes of the test session.

It takes two fifths of what a whole release costs, and most test houses mask the records of another by the same seed. So
do trials of the same plans, whose attacks are played once in each process. A test that changes a measure has everything
measured: in a folder named below, or by `monkeypatch`, unless that changes no more than the environment, a clock or
what lies around the measures.

Either way, intruders who learn do without the dearest of their rulers, maps over several columns: `tests/risk`,
`tests/policies` and `tests/red_team` play them.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import pytest

from policies.policy import Policy
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.risk.linkage.map_rulers import MapLearners
from sluice.utility.comparison import Comparison
from tasks.release.records.record_findings import Evaluation, evaluate_file

_MOST = 300  # that are remembered, of some 50 kB each
_MEASURED = (
    "tests/faults/",
    "tests/tasks/test_evaluate.py",
    "tests/tasks/release/records/",
    "tests/flows/test_reassess",
    "tests/tasks/tuning/test_trial.py",
)

_AROUND = (
    "flows",
    "sluice.custody",
    "sluice.notices",
    "sluice.sources",
    "tasks.publish",
    "tasks.release.decisions",
    "tasks.release.editions",
    "tasks.release.vault",
    "tasks.runs",
    "tasks.tuning",
    "tests.flows",
)  # may be changed, and what is measured stays

_UNMEASURED = {"name", "version", "description", "approvals", "waivers", "retention"}  # of a policy: people read them

_DEAREST = "rulers"
_MAPS = MapLearners.rulers
_evaluating: list[bool] = []
_known: dict[str, Evaluation] = {}
_played: dict[str, tuple[list[Finding], Iterator[Finding]]] = {}  # what was found, and what finds more


def is_measured(item: pytest.Item, changes: pytest.MonkeyPatch | None) -> bool:
    """Whether a test is about what is measured, or has changed it by now."""
    if item.nodeid.startswith(_MEASURED):
        return True
    if changes is None:
        return False
    targets = (target for target, _, _ in changes._setattr)
    mappings = (mapping for mapping, _, _ in changes._setitem)
    return not all(map(_is_around, targets)) or any(mapping is not os.environ for mapping in mappings)


def _is_around(target: object) -> bool:
    """Of a module, a class or an object."""
    if not isinstance(name := getattr(target, "__module__", None) or getattr(target, "__name__", None), str):
        return False
    return any(name == room or name.startswith(f"{room}.") for room in _AROUND)


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
        with without_maps():
            found = evaluate_file(policy, files, declared, described)
        if noted is not None:
            noted.parent.mkdir(exist_ok=True)
            begun = noted.with_suffix(f".{os.getpid()}")
            begun.write_bytes(pickle.dumps(found))
            begun.replace(noted)
    if key is not None and len(_known) < _MOST:
        _known[key] = found
    return found


@contextmanager
def without_maps() -> Iterator[None]:
    """Intruders look for no maps meanwhile, in whichever thread: until the last who asked for it has ended."""
    _evaluating.append(True)
    setattr(MapLearners, _DEAREST, lambda *_: [])
    try:
        yield
    finally:
        _evaluating.pop()
        if not _evaluating:
            setattr(MapLearners, _DEAREST, _MAPS)


def one_by_one(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Each looked for without maps when it is asked for."""
    while True:
        with without_maps():
            each = next(findings, None)
        if each is None:
            return
        yield each


def played_once(
    play: Callable[[Policy, Comparison], Iterator[Finding]], policy: Policy, files: Comparison
) -> Iterator[Finding]:
    """As `play`, which is asked for what nobody asked it for before."""
    key = _key(policy, files)
    if key is None or (key not in _played and len(_played) >= _MOST):
        yield from one_by_one(play(policy, files))
        return
    found, more = _played.setdefault(key, ([], one_by_one(play(policy, files))))
    at = 0
    while True:
        if at == len(found):
            try:
                each = next(more, None)
            except BaseException:
                _played.pop(key, None)
                raise
            if each is None:
                return
            found.append(each)
        yield found[at]
        at += 1


def _key(policy: Policy, files: Comparison, *variables: Variables) -> str | None:
    """Of all that is evaluated, the draws among it; None where something cannot be written down."""
    of_files = {field.name: getattr(files, field.name) for field in fields(files)}
    try:
        asked = policy.model_dump_json(exclude=_UNMEASURED)
        written = pickle.dumps((asked, of_files, files.rng.bit_generator.seed_seq, variables))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    return hashlib.sha256(written).hexdigest()
