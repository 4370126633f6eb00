from dataclasses import replace

import pandas as pd

from policies.original_and_masked import OriginalAndMasked
from sluice.verdict import Verdict
from tests.golden import golden
from tests.policies.utility.test_marginals import data, files, judge


def declared(original: pd.DataFrame, masked: pd.DataFrame) -> OriginalAndMasked:
    of = files(original, masked)
    of_town = {"town": ("a", "b", "c", "d")}
    variables = {name: each.model_copy(update={"categories": of_town.get(name)}) for name, each in of.variables.items()}
    return replace(of, variables=variables)


def test_the_worst_subgroup_is_named_and_held_to_the_limit() -> None:
    original = data(2_000)
    masked = original.copy()
    masked.loc[masked["town"] == "c", "sex"] = "m"
    found, findings = judge(declared(original, masked), worst_subgroup={"at_most": 0.1})
    finding = findings["worst_subgroup"]
    assert (finding.verdict, finding.scope, finding.completed) == (Verdict.FAIL, "town", 4)
    assert "(town = c)" in finding.says
    assert found.view.subgroups is not None
    assert (found.view.subgroups.compared, found.view.subgroups.worst[0].category) == (4, "c")
    same = judge(declared(original, original), worst_subgroup={"at_most": 0})[1]["worst_subgroup"]
    assert (same.verdict, same.observed, same.scope) == (Verdict.PASS, 0, "")


def test_categories_that_nobody_declared_are_not_named() -> None:
    original = data(2_000)
    of = files(original, original)
    bare = replace(of, variables={name: v.model_copy(update={"categories": None}) for name, v in of.variables.items()})
    found, findings = judge(bare, worst_subgroup={"at_most": 0})
    assert (findings["worst_subgroup"].verdict, findings["worst_subgroup"].binding) == (Verdict.PASS, False)
    assert found.view.subgroups is None


def test_a_few_changed_records_of_a_subgroup_are_not_told() -> None:
    original = data(2_000)
    masked = original.copy()
    masked.loc[masked.index[masked["town"] == "c"][:3], "sex"] = None
    found, findings = judge(declared(original, masked))
    assert found.view.subgroups is not None
    assert {each.loss for each in found.view.subgroups.worst} == {0}
    assert "(town" not in findings["worst_subgroup"].says
    assert (findings["worst_subgroup"].scope, findings["worst_subgroup"].observed) == ("", None)
    assert judge(declared(original, masked), worst_subgroup={"at_most": 0})[1]["worst_subgroup"].verdict is Verdict.FAIL


def test_small_subgroups_and_an_empty_file() -> None:
    small = data(60)
    assert judge(declared(small, small), worst_subgroup={"at_most": 0})[1]["worst_subgroup"].binding is False
    original = data(1_000)
    nobody = judge(declared(original, original.head(0)), worst_subgroup={"at_most": 1})[1]["worst_subgroup"]
    assert nobody.verdict is Verdict.UNKNOWN


def test_whoever_removes_what_forms_subgroups_has_lost_them() -> None:
    original = data(1_000)
    for left in (original.drop(columns="town"), original[["town"]]):
        finding = judge(declared(original, left), worst_subgroup={"at_most": 0.5})[1]["worst_subgroup"]
        assert (finding.verdict, finding.observed, finding.binding) == (Verdict.FAIL, 1.0, True)
        golden.words(finding.says)
