"""That the planted faults still apply, so that `python -m tests.mutants` asks what it is meant to ask."""

from collections import Counter

import pytest

from tests.mutants.__main__ import _failed, nearest
from tests.mutants.planted import ROOT, Fault, faults

FAULTS = faults()


def test_there_are_enough_of_all_kinds() -> None:
    assert len(FAULTS) >= 40
    assert max(Counter(fault.name for fault in FAULTS).values()) == 1
    assert {fault.file.partition("/")[0] for fault in FAULTS} == {"sluice", "policies", "schemas", "tasks", "flows"}


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_fault_applies(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    planted = fault.planted(text)
    assert planted != text
    compile(planted, fault.file, "exec")
    assert fault.says
    assert not fault.near or (ROOT / fault.near).exists()


@pytest.mark.parametrize("text", ["", "a = 2", "a = 1; b = a = 1"])
def test_fault_that_does_not_apply_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="one_more"):
        Fault("one_more", "some.py", "it counts one more", "a = 1", "a = 2").planted(text)


def test_nearest_tests_come_first() -> None:
    own, importing, *around = nearest("sluice/tabular/rules/sensitivity.py")
    assert own == ["tests/tabular/rules/test_sensitivity.py"]
    assert "tests/tabular/advice/test_coarsening.py" in importing
    assert own[0] not in importing
    assert around == [["tests/tabular/rules"], ["tests/tabular"]]
    assert nearest("flows/cli/operator_commands.py") == [["tests/flows/test_worker.py"], ["tests/flows"]]


@pytest.mark.parametrize(
    ("line", "test"),
    [
        ("FAILED tests/ground/test_log.py::test_one - assert 1 == 2", "tests/ground/test_log.py::test_one"),
        (
            "FAILED tests/ground/test_log.py::test_one[a - b] - assert 1 == 2",
            "tests/ground/test_log.py::test_one[a - b]",
        ),
        ("FAILED tests/ground/test_log.py::test_one[a - b]", "tests/ground/test_log.py::test_one[a - b]"),
        ("FAILED tests/ground/test_log.py::test_one - assert [1] == [2]", "tests/ground/test_log.py::test_one"),
        ("ERROR tests/ground/test_log.py - ImportError: no", "tests/ground/test_log.py"),
    ],
)
def test_failures_are_read_from_what_pytest_says(line: str, test: str) -> None:
    assert _failed(f"..F\n{line}\n1 failed, 2 passed") == [test]
    assert _failed("3 passed") == []
