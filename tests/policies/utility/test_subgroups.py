from dataclasses import replace

from sluice.ground.verdict import Verdict
from tests.policies.utility.files import data, declared, files, judge


def test_the_worst_subgroup_is_named_and_held_to_the_limit() -> None:
    original = data(2_000)
    masked = original.copy()
    masked.loc[masked["town"] == "c", "sex"] = "m"
    found, findings = judge(declared(original, masked), worst_subgroup={"at_most": 0.1})
    finding = findings["worst_subgroup"]
    assert (finding.verdict, finding.scope, finding.completed) == (Verdict.FAIL, "town", 4)
    assert "(town = c)" in finding.says
    assert (found.view.subgroups.compared, found.view.subgroups.worst[0].category) == (4, "c")


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
    assert {each.loss for each in found.view.subgroups.worst} == {0}
    assert "(town" not in findings["worst_subgroup"].says
    assert (findings["worst_subgroup"].scope, findings["worst_subgroup"].observed) == ("", None)
    assert judge(declared(original, masked), worst_subgroup={"at_most": 0})[1]["worst_subgroup"].verdict is Verdict.FAIL
