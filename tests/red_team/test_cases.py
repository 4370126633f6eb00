"""Every attack of `cases` works, and the gate stops the file for the reason that the case names."""

import importlib
import pkgutil

import pytest

from tests.red_team import cases
from tests.red_team.case import Case, failures

CASES = [
    case
    for module in pkgutil.iter_modules(cases.__path__)
    for case in importlib.import_module(f"{cases.__name__}.{module.name}").CASES
]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case, id=case.name, marks=[pytest.mark.exhaustive] * case.more + [pytest.mark.longest] * case.rarely
        )
        for case in CASES
    ],
)
def test_what_the_attack_reaches_does_not_pass(case: Case) -> None:
    files = case.make()
    reached = case.attack(files)
    assert reached >= case.reaches > case.chance, f"the attack reaches {reached:.1%} only"
    failed = failures(files, case.policy, case.rules, case.verdict)
    assert set(case.rules) & set(failed), f"it reaches {reached:.1%}; what failed: {failed}"
