from dataclasses import replace

import numpy as np

from sluice.ground.verdict import Verdict
from tests.utility.files import data, declared, files, judge


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


def test_what_goes_together_in_one_subgroup_alone_is_held_to_its_limit() -> None:
    rng = np.random.default_rng(4)
    original = data(4_000)
    original["job"] = np.where(rng.random(4_000) < 0.9, original["sex"].map({"m": "p", "f": "q"}), "p")
    original["x"] = rng.choice(list("uv"), 4_000)
    masked = original.copy()
    torn = masked.index[masked["town"] == "c"]
    masked.loc[torn, "job"] = rng.permutation(masked.loc[torn, "job"])
    found, findings = judge(declared(original, masked), subgroup_cramers_v={"at_most": 0.1})
    finding = findings["subgroup_cramers_v"]
    assert (finding.verdict, finding.scope, finding.completed) == (Verdict.FAIL, "town", 4)
    assert "(town = c)" in finding.says
    assert found.view.subgroup_associations.worst[0].category == "c"
    assert findings["worst_subgroup"].observed < 0.05  # no distribution of the subgroup moved


def test_what_a_few_records_of_a_subgroup_changed_together_is_not_told() -> None:
    original = data(2_000)
    original["job"] = original["sex"]
    masked = original.copy()
    masked.loc[masked.index[masked["town"] == "c"][:3], "sex"] = None
    found, findings = judge(declared(original, masked), subgroup_cramers_v={"at_most": 0})
    finding = findings["subgroup_cramers_v"]
    assert (finding.verdict, finding.scope, finding.observed) == (Verdict.FAIL, "", None)
    assert "town" not in finding.says
    assert found.view.subgroup_associations is None
