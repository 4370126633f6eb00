"""Every attack of `cases` works, and the gate stops the file for the reason that the case names."""

import importlib
import pkgutil
from contextlib import nullcontext

import pytest

from tests.evaluated_once import without_maps
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
    with nullcontext() if case.maps or case.more else without_maps():
        failed = failures(files, case.policy, case.rules, case.verdict)
    assert set(case.rules) & set(failed), f"it reaches {reached:.1%}; what failed: {failed}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES if not (case.maps or case.more)])
def test_maps_hide_nothing_that_is_found_without_them(case: Case) -> None:
    """The intruder chooses one ruler, and has more of them to choose from."""
    assert set(case.rules) & set(failures(case.make(), case.policy, case.rules, case.verdict))
